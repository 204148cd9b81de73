// The rewrite of the append-only file: a new log, then a base snapshot of the state before it.
#include <algorithm>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/persistence/aof_persistence.h"

namespace tally::server {

absl::Status AofPersistence::StartRewrite() {
  if (loading_ != nullptr) return absl::FailedPreconditionError("the data is being loaded");
  if (rewrite_ != nullptr) {
    return absl::AlreadyExistsError("Background append only file rewriting already in progress");
  }
  if (absl::Status status = OpenDirectory(); !status.ok()) return status;
  uint64_t after = 0;
  if (writer_ != nullptr) {
    after = writer_->sequence();
  } else if (!directory_->manifest().logs.empty()) {
    after = directory_->manifest().logs.back().sequence;
  }
  rewrite_ = std::make_unique<Rewrite>();
  rewrite_->started_ms = server_.clock.now_ms();
  worker_->Start([this, after] {
    auto log = directory_->AddLog(after);
    if (!log.ok()) return log.status();
    rewrite_->log = std::move(*log);
    auto base = directory_->CreateBase();
    if (!base.ok()) return base.status();
    rewrite_->base = std::move(*base);
    return absl::OkStatus();
  });
  return absl::OkStatus();
}

// The switch waits for a sync of the old log; straight after another one that is short.
bool AofPersistence::MaySwitchLogs() {
  if (writer_ == nullptr || writer_->unsynced_bytes() == 0) return true;
  const bool running = writer_->fsync_running();
  rewrite_->seen_sync |= running;
  return rewrite_->seen_sync && !running;
}

absl::Status AofPersistence::BeginWalk() {
  const int64_t now = server_.clock.steady_ms();
  const uint64_t first_log = rewrite_->log.sequence;
  // A writer whose log has lost something gets another one behind this base (see Recover).
  if (writer_ != nullptr && !writer_->lost()) {
    // Effects of the running turn belong to the old log.
    if (absl::Status status = writer_->Flush(now); !status.ok()) return status;
    const uint64_t size = writer_->current_size();
    absl::Status status = writer_->SwitchTo(std::move(rewrite_->log), now);
    if (!status.ok()) return status;
    older_log_bytes_ += size;
    server_.effects.ForgetDatabase();
  }
  const uint64_t sequence = rewrite_->base.sequence;
  rewrite_->writer = std::make_unique<BaseWriter>(
      files_, std::move(rewrite_->base.file),
      BaseHeader{server_.clock.now_ms(), sequence, first_log}, BaseWriter::Options());
  rewrite_->walk = std::make_unique<SnapshotWalk>(server_.engine, *rewrite_->writer, ++epoch_);
  rewrite_->progress.emplace(Clock::MonotonicMicros());
  rewrite_->keys_total = CountKeys();
  rewrite_->changes = server_.stats.changes_since_save;
  rewrite_->stage = Rewrite::Stage::kSaving;
  server_.log.Notice("Rewriting the append-only file: base ", sequence, " begins");
  return absl::OkStatus();
}

void AofPersistence::SaveBeforeChange(size_t database, Keyspace::Segment& segment,
                                      std::string_view key, const Keyspace::Entry& entry) {
  if (rewrite_ == nullptr || rewrite_->walk == nullptr) return;
  const absl::Status status = rewrite_->walk->SaveBeforeChange(database, segment, key, entry);
  if (!status.ok()) FailRewrite(status);
}

void AofPersistence::SaveBeforeValueChange(void* value) {
  if (rewrite_ == nullptr || rewrite_->walk == nullptr) return;
  const absl::Status status = rewrite_->walk->SaveBeforeValueChange(value);
  if (!status.ok()) FailRewrite(status);
}

bool AofPersistence::KeepValue(const void* value) {
  return rewrite_ != nullptr && rewrite_->walk != nullptr && rewrite_->walk->KeepValue(value);
}

absl::Status AofPersistence::SaveSegments(int64_t budget_us) {
  const int64_t begin = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  do {
    more = rewrite_->walk->SaveNext();
    ReportSaving();
  } while (more.ok() && *more && Clock::MonotonicMicros() - begin < budget_us);
  if (!more.ok()) return more.status();
  if (*more) return absl::OkStatus();
  rewrite_->walk = nullptr;
  rewrite_->stage = Rewrite::Stage::kSyncing;
  return rewrite_->writer->Finish();
}

std::optional<int64_t> AofPersistence::NextSliceInMicros() {
  if (rewrite_ == nullptr || rewrite_->walk == nullptr || rewrite_->writer->Throttled()) {
    return std::nullopt;
  }
  const int64_t now = Clock::MonotonicMicros();
  return Serving(now) ? std::max<int64_t>(next_idle_slice_us_ - now, 0) : 0;
}

absl::StatusOr<bool> AofPersistence::WorkerDone(Waiting waiting) {
  if (waiting == Waiting::kForTheDisk) {
    absl::Status status = worker_->Wait().status;
    if (!status.ok()) return status;
    return true;
  }
  const auto result = worker_->Poll();
  if (!result.has_value()) return false;
  if (!result->status.ok()) return result->status;
  return true;
}

absl::Status AofPersistence::AdvanceRewrite(int64_t budget_us, Waiting waiting) {
  switch (rewrite_->stage) {
    case Rewrite::Stage::kOpening: {
      if (worker_->busy()) {
        const auto done = WorkerDone(waiting);
        if (!done.ok() || !*done) return done.status();
      }
      return waiting == Waiting::kForTheDisk || MaySwitchLogs() ? BeginWalk() : absl::OkStatus();
    }
    case Rewrite::Stage::kSaving:
      if (waiting == Waiting::kNo && rewrite_->writer->Throttled()) return absl::OkStatus();
      return SaveSegments(budget_us);
    case Rewrite::Stage::kSyncing: {
      if (waiting == Waiting::kForTheDisk) {
        if (absl::Status status = rewrite_->writer->WaitSynced(); !status.ok()) return status;
      }
      const auto synced = rewrite_->writer->PollSynced();
      if (!synced.ok() || !*synced) return synced.status();
      rewrite_->stage = Rewrite::Stage::kPublishing;
      worker_->Start([this] {
        const absl::Status status =
            directory_->PublishBase(rewrite_->base.sequence, rewrite_->log.sequence);
        // What cannot be removed now is removed at the next start.
        if (status.ok()) directory_->RemoveObsolete().IgnoreError();
        return status;
      });
      return absl::OkStatus();
    }
    case Rewrite::Stage::kPublishing: {
      const auto done = WorkerDone(waiting);
      if (done.ok() && *done) FinishRewrite();
      return done.status();
    }
    case Rewrite::Stage::kAbandoning: {
      const auto done = WorkerDone(waiting);
      if (!done.ok() || !*done) return done.status();
      rewrite_ = nullptr;
      return StartRewrite();
    }
  }
  return absl::OkStatus();
}

void AofPersistence::RewriteSlice(int64_t budget_us, Waiting waiting) {
  if (absl::Status status = AdvanceRewrite(budget_us, waiting); !status.ok()) FailRewrite(status);
}

void AofPersistence::FinishRewrite() {
  base_bytes_ = rewrite_->writer->bytes();
  older_log_bytes_ = 0;
  const int64_t now = server_.clock.now_ms();
  server_.log.Notice("Rewrite done: ", rewrite_->writer->records(), " records, ", base_bytes_,
                     " bytes in ", now - rewrite_->started_ms, " ms");
  last_save_ms_ = now;
  last_save_steady_ms_ = server_.clock.steady_ms();
  ++saves_;
  last_rewrite_seconds_ = (now - rewrite_->started_ms) / 1000;
  last_rewrite_ = absl::OkStatus();
  server_.stats.changes_since_save -= rewrite_->changes;
  rewrite_ = nullptr;
}

void AofPersistence::FailRewrite(const absl::Status& status) {
  if (worker_->busy()) worker_->Wait();
  server_.log.Warning("Rewriting the append-only file failed: ", std::string(status.message()));
  last_rewrite_ = status;
  last_failure_steady_ms_ = server_.clock.steady_ms();
  if (rewrite_ == nullptr) return;
  if (rewrite_->base.sequence != 0) directory_->AbandonBase(rewrite_->base.sequence);
  rewrite_->walk = nullptr;
  rewrite_ = nullptr;
}

void AofPersistence::RestartRewrite() {
  if (rewrite_ == nullptr || rewrite_->walk == nullptr) return;
  server_.log.Notice("Rewriting the append-only file: base ", rewrite_->base.sequence,
                     " is given up, to begin anew");
  rewrite_->walk = nullptr;
  rewrite_->progress.reset();
  rewrite_->stage = Rewrite::Stage::kAbandoning;
  // To close and to remove a large file takes long.
  worker_->Start([this] {
    rewrite_->writer = nullptr;
    directory_->AbandonBase(rewrite_->base.sequence);
    return absl::OkStatus();
  });
}

absl::Status AofPersistence::SaveNow() {
  // One that began before has the state of then, and no log has what came after.
  if (rewrite_ != nullptr && writer_ == nullptr) {
    FailRewrite(absl::CancelledError("another is asked for"));
  }
  if (rewrite_ == nullptr) {
    if (absl::Status status = StartRewrite(); !status.ok()) return status;
  }
  while (rewrite_ != nullptr) RewriteSlice(INT64_MAX, Waiting::kForTheDisk);
  return last_rewrite_;
}

}  // namespace tally::server
