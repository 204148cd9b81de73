// The rewrite of the append-only file: a new log, then a base snapshot of the state before it.
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
  const int64_t now = server_.clock.now_ms();
  uint64_t after = 0;
  if (writer_ != nullptr) {
    // Effects of the running turn belong to the old log.
    if (absl::Status status = writer_->Flush(now); !status.ok()) return status;
    after = writer_->sequence();
  } else if (!directory_->manifest().logs.empty()) {
    after = directory_->manifest().logs.back().sequence;
  }
  auto log = directory_->AddLog(after);
  if (!log.ok()) return log.status();
  const uint64_t first_log = log->sequence;
  if (writer_ != nullptr) {
    older_log_bytes_ += writer_->current_size();
    if (absl::Status status = writer_->SwitchTo(std::move(*log), now); !status.ok()) return status;
    server_.effects.ForgetDatabase();
  }
  auto base = directory_->CreateBase();
  if (!base.ok()) return base.status();
  auto writer = BaseWriter::Create(std::move(base->file), {now, base->sequence, first_log}, {});
  if (!writer.ok()) return writer.status();
  rewrite_ = std::make_unique<Rewrite>(
      Rewrite{base->sequence, first_log, now, std::move(*writer), nullptr});
  rewrite_->walk = std::make_unique<SnapshotWalk>(server_.engine, *rewrite_->writer, ++epoch_);
  server_.log.Notice("Rewriting the append-only file: base ", base->sequence, " begins");
  return absl::OkStatus();
}

void AofPersistence::SaveBeforeChange(size_t database, Keyspace::Segment& segment) {
  if (rewrite_ == nullptr || rewrite_->walk == nullptr) return;
  const absl::Status status = rewrite_->walk->SaveBeforeChange(database, segment);
  if (!status.ok()) FailRewrite(status);
}

bool AofPersistence::KeepValue(const void* value) {
  return rewrite_ != nullptr && rewrite_->walk != nullptr && rewrite_->walk->KeepValue(value);
}

absl::Status AofPersistence::SaveSegments(int64_t budget_us) {
  const int64_t begin = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more && Clock::MonotonicMicros() - begin < budget_us) {
    more = rewrite_->walk->SaveNext();
  }
  if (!more.ok()) return more.status();
  if (*more) return absl::OkStatus();
  rewrite_->walk = nullptr;
  return rewrite_->writer->Finish();
}

void AofPersistence::RewriteSlice(int64_t budget_us) {
  if (rewrite_->walk != nullptr) {
    if (rewrite_->writer->throttled()) return;
    if (absl::Status status = SaveSegments(budget_us); !status.ok()) return FailRewrite(status);
    return;
  }
  const auto synced = rewrite_->writer->PollSynced();
  if (!synced.ok()) return FailRewrite(synced.status());
  if (!*synced) return;
  if (absl::Status status = FinishRewrite(); !status.ok()) FailRewrite(status);
}

absl::Status AofPersistence::FinishRewrite() {
  const absl::Status status = directory_->PublishBase(rewrite_->base_sequence, rewrite_->first_log);
  if (!status.ok()) return status;
  base_bytes_ = rewrite_->writer->bytes();
  older_log_bytes_ = 0;
  const int64_t now = server_.clock.now_ms();
  server_.log.Notice("Rewrite done: ", rewrite_->writer->records(), " records, ", base_bytes_,
                     " bytes in ", now - rewrite_->started_ms, " ms");
  last_save_ms_ = now;
  last_rewrite_ = absl::OkStatus();
  server_.stats.changes_since_save = 0;
  rewrite_ = nullptr;
  return directory_->RemoveObsolete();
}

void AofPersistence::FailRewrite(const absl::Status& status) {
  server_.log.Warning("Rewriting the append-only file failed: ", std::string(status.message()));
  last_rewrite_ = status;
  if (rewrite_ == nullptr) return;
  directory_->AbandonBase(rewrite_->base_sequence);
  rewrite_->walk = nullptr;
  rewrite_ = nullptr;
}

absl::Status AofPersistence::FinishWalk() {
  if (rewrite_ != nullptr && rewrite_->walk != nullptr) {
    if (absl::Status status = SaveSegments(INT64_MAX); !status.ok()) {
      FailRewrite(status);
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status AofPersistence::SaveNow() {
  if (rewrite_ == nullptr) {
    if (absl::Status status = StartRewrite(); !status.ok()) return status;
  }
  if (absl::Status status = FinishWalk(); !status.ok()) return status;
  if (absl::Status status = rewrite_->writer->WaitSynced(); !status.ok()) {
    FailRewrite(status);
    return status;
  }
  RewriteSlice(0);
  return last_rewrite_;
}

}  // namespace tally::server
