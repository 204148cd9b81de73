// The rewrite of the append-only file: a new log, then a base snapshot of the state before it.
#include <algorithm>
#include <utility>

#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "server/effects/effect_stream.h"
#include "server/log/log.h"
#include "server/persistence/aof_persistence.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

absl::Status AofPersistence::StartRewrite() {
  if (loading_ != nullptr) return absl::FailedPreconditionError("the data is being loaded");
  if (rewrite_ != nullptr) {
    return absl::AlreadyExistsError("Background append only file rewriting already in progress");
  }
  if (absl::Status status = OpenDirectory(); !status.ok()) return status;
  rewrite_ = std::make_unique<Rewrite>();
  rewrite_->started_ms = server_.clock.now_ms();
  const bool within_log = begins_within_log_ && writer_ != nullptr && !writer_->lost();
  const auto& logs = directory_->manifest().logs;
  const uint64_t last = logs.empty() ? 0 : logs.back().sequence;
  const uint64_t after = writer_ != nullptr ? writer_->sequence() : last;
  worker_->Start([this, within_log, after] {
    auto base = directory_->CreateBase();
    if (!base.ok()) return base.status();
    rewrite_->base = std::move(*base);
    if (within_log) return absl::OkStatus();
    auto log = directory_->AddLog(after);
    if (!log.ok()) return log.status();
    rewrite_->log = std::move(*log);
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

absl::StatusOr<LogPosition> AofPersistence::BeginOfLogs() {
  const LogPosition header_of_log{rewrite_->log.sequence, 0, 0};
  // A writer whose log has lost something gets another one behind this base (see Recover).
  if (writer_ == nullptr || writer_->lost()) return header_of_log;
  const int64_t now = server_.clock.steady_ms();
  // Effects of the running turn are in the snapshot.
  server_.effects.DeliverAll();
  if (absl::Status status = writer_->Flush(now); !status.ok()) return status;
  server_.effects.ForgetDatabase();
  if (rewrite_->log.sequence == 0) return writer_->Mark(now);
  const auto size = static_cast<int64_t>(writer_->current_size());
  absl::Status status = writer_->SwitchTo(std::move(rewrite_->log), now);
  if (!status.ok()) return status;
  rewrite_->log_in_use = true;
  older_log_bytes_ += size;
  return header_of_log;
}

absl::Status AofPersistence::BeginWalk() {
  const auto begin = BeginOfLogs();
  if (!begin.ok()) return begin.status();
  rewrite_->first_log = begin->sequence;
  rewrite_->covered_bytes = static_cast<int64_t>(begin->offset);
  const uint64_t sequence = rewrite_->base.sequence;
  rewrite_->writer = std::make_unique<BaseWriter>(
      files_, std::move(rewrite_->base.file),
      BaseHeader{server_.clock.now_ms(), sequence, begin->sequence, begin->offset, begin->crc},
      BaseWriter::Options());
  rewrite_->walk = std::make_unique<SnapshotWalk>(server_.engine, *rewrite_->writer, ++epoch_);
  rewrite_->progress.emplace(Clock::MonotonicMicros());
  rewrite_->keys_total = CountKeys();
  rewrite_->changes = server_.stats.changes_since_save;
  rewrite_->stage = Rewrite::Stage::kSaving;
  if (rewrite_pause_.failures() == 0) {
    server_.log.Notice("Rewriting the append-only file: base ", sequence, " begins");
  }
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
            directory_->PublishBase(rewrite_->base.sequence, rewrite_->first_log);
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
      if (!done.ok() || *done) rewrite_ = nullptr;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

void AofPersistence::RewriteSlice(int64_t budget_us, Waiting waiting) {
  if (absl::Status status = AdvanceRewrite(budget_us, waiting); !status.ok()) FailRewrite(status);
}

void AofPersistence::FinishRewrite() {
  base_bytes_ = rewrite_->writer->bytes();
  older_log_bytes_ = -rewrite_->covered_bytes;
  begins_within_log_ = false;
  const int64_t now = server_.clock.now_ms();
  server_.log.Notice("Rewrite done: ", rewrite_->writer->records(), " records, ", base_bytes_,
                     " bytes in ", now - rewrite_->started_ms, " ms");
  if (rewrite_pause_.failures() > 0) {
    server_.log.Notice("It was tried again after ", rewrite_pause_.failures(), " failures");
  }
  rewrite_pause_.Succeeded();
  last_save_ms_ = now;
  last_save_steady_ms_ = server_.clock.steady_ms();
  ++saves_;
  last_rewrite_seconds_ = (now - rewrite_->started_ms) / 1000;
  last_rewrite_ = absl::OkStatus();
  server_.stats.changes_since_save -= rewrite_->changes;
  rewrite_ = nullptr;
}

// The log hears of it once, not each time that it is tried again in vain.
void AofPersistence::FailRewrite(const absl::Status& status) {
  if (rewrite_pause_.failures() == 0 || status.message() != last_rewrite_.message()) {
    server_.log.Warning("Rewriting the append-only file failed: ", std::string(status.message()),
                        "; automatic rewrites pause for 1 s, then for longer, up to 5 min");
  }
  rewrite_pause_.Failed(server_.clock.steady_ms());
  last_rewrite_ = status;
  last_failure_steady_ms_ = server_.clock.steady_ms();
  AbandonRewrite();
}

void AofPersistence::AbandonRewrite() {
  if (rewrite_ == nullptr || rewrite_->stage == Rewrite::Stage::kAbandoning) return;
  if (worker_->busy()) worker_->Wait();
  begins_within_log_ |= rewrite_->log_in_use;
  rewrite_->walk = nullptr;
  rewrite_->progress.reset();
  rewrite_->stage = Rewrite::Stage::kAbandoning;
  // To close and to remove a large file takes long.
  worker_->Start([this] {
    rewrite_->writer = nullptr;
    if (rewrite_->base.sequence != 0) directory_->AbandonBase(rewrite_->base.sequence);
    const bool log_is_unused = rewrite_->log.sequence != 0 && !rewrite_->log_in_use;
    if (log_is_unused) directory_->RetractLog(rewrite_->log.sequence).IgnoreError();
    // What cannot be removed now is removed by the next rewrite, or the next start.
    directory_->RemoveObsolete().IgnoreError();
    return absl::OkStatus();
  });
}

void AofPersistence::CancelRewrite(std::string_view why) {
  if (rewrite_ == nullptr) return;
  server_.log.Notice("Rewriting the append-only file is given up: ", std::string(why));
  AbandonRewrite();
  if (worker_->busy()) worker_->Wait();
  rewrite_ = nullptr;
}

void AofPersistence::BeforeClear(size_t database) {
  if (rewrite_ != nullptr && rewrite_->walk != nullptr) rewrite_->walk->BeforeClear(database);
}

void AofPersistence::BeforeSwap(size_t one, size_t other) {
  if (rewrite_ != nullptr && rewrite_->walk != nullptr) rewrite_->walk->BeforeSwap(one, other);
}

absl::Status AofPersistence::SaveNow() {
  // One that began before has the state of then, and no log has what came after.
  if (rewrite_ != nullptr && writer_ == nullptr) {
    CancelRewrite("another is asked for");
  }
  if (rewrite_ == nullptr) {
    if (absl::Status status = StartRewrite(); !status.ok()) return status;
  }
  while (rewrite_ != nullptr) RewriteSlice(INT64_MAX, Waiting::kForTheDisk);
  return last_rewrite_;
}

}  // namespace tally::server
