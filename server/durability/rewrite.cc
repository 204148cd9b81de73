#include "server/durability/rewrite.h"

#include <utility>

namespace tally::server {
namespace {

uint64_t LogBefore(const DataFiles& files, const EffectLog& log) {
  const auto& logs = files.directory().manifest().logs;
  const uint64_t last = logs.empty() ? 0 : logs.back().sequence;
  return log.is_on() ? log.sequence() : last;
}

}  // namespace

Rewrite::Rewrite(const Parts& parts, DataFiles& files, EffectLog& log, uint64_t epoch,
                 bool is_retry)
    : SnapshotJob(parts, epoch),
      files_(files),
      log_(log),
      is_retry_(is_retry),
      within_log_(log.awaits_base()),
      after_(LogBefore(files, log)) {}

absl::Status Rewrite::OpenFiles() {
  AofDirectory& directory = files_.directory();
  auto base = directory.CreateBase();
  if (!base.ok()) return base.status();
  base_ = std::move(*base);
  if (within_log_) return absl::OkStatus();
  auto log = directory.AddLog(after_);
  if (!log.ok()) return log.status();
  new_log_ = std::move(*log);
  return absl::OkStatus();
}

absl::Status Rewrite::BeginWriting() {
  const auto begin = log_.BeginSnapshot(new_log_);
  if (!begin.ok()) return begin.status();
  const LogPosition& position = begin->position;
  log_in_use_ = begin->in_next;
  first_log_ = position.sequence;
  covered_bytes_ = position.offset;
  writer_ =
      std::make_unique<BaseWriter>(files_.system(), std::move(base_.file),
                                   BaseHeader{parts().clock.now_ms(), base_.sequence,
                                              position.sequence, position.offset, position.crc},
                                   BaseWriter::Options());
  emitter_ = std::make_unique<RecordEmitter>(*writer_);
  emitter_->HoldLargeRecords();
  if (!is_retry_) parts().report.RewriteBegins(base_.sequence);
  return absl::OkStatus();
}

absl::Status Rewrite::Publish() {
  AofDirectory& directory = files_.directory();
  const absl::Status status = directory.PublishBase(base_.sequence, first_log_);
  // What cannot be removed now is removed at the next start.
  if (status.ok()) directory.RemoveObsolete().IgnoreError();
  return status;
}

void Rewrite::Abandoned() {
  if (log_in_use_) log_.set_awaits_base(true);
}

void Rewrite::Remove() {
  AofDirectory& directory = files_.directory();
  emitter_ = nullptr;
  writer_ = nullptr;
  if (base_.sequence != 0) directory.AbandonBase(base_.sequence);
  const bool log_is_unused = new_log_.sequence != 0 && !log_in_use_;
  if (log_is_unused) directory.RetractLog(new_log_.sequence).IgnoreError();
  // What cannot be removed now is removed by the next rewrite, or the next start.
  directory.RemoveObsolete().IgnoreError();
}

void Rewrite::Settle(const absl::Status& status, uint64_t failures_before) {
  if (!status.ok()) return;
  files_.BaseReplaced(writer_->bytes(), covered_bytes_);
  log_.set_awaits_base(false);
  const int64_t took_ms = parts().clock.steady_ms() - started_steady_ms();
  parts().report.RewriteDone(writer_->records(), writer_->bytes(), took_ms, failures_before);
}

}  // namespace tally::server
