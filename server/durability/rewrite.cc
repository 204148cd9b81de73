#include "server/durability/rewrite.h"

#include <algorithm>
#include <utility>

namespace tally::server {
namespace {

// With fewer keys than this, a single key may be most of the data, so keys say little about
// progress.
constexpr uint64_t kFewKeys = 1000;

}  // namespace

Rewrite::Rewrite(const Parts& parts, uint64_t epoch, bool is_retry)
    : parts_(parts),
      epoch_(epoch),
      is_retry_(is_retry),
      started_steady_ms_(parts.clock.steady_ms()) {
  AofDirectory& directory = parts.files.directory();
  const bool within_log = parts.log.awaits_base();
  const auto& logs = directory.manifest().logs;
  const uint64_t last = logs.empty() ? 0 : logs.back().sequence;
  const uint64_t after = parts.log.is_on() ? parts.log.sequence() : last;
  parts.worker.Start([this, &directory, within_log, after] {
    auto base = directory.CreateBase();
    if (!base.ok()) return base.status();
    base_ = std::move(*base);
    if (within_log) return absl::OkStatus();
    auto log = directory.AddLog(after);
    if (!log.ok()) return log.status();
    log_ = std::move(*log);
    return absl::OkStatus();
  });
}

absl::Status Rewrite::Advance(int64_t budget_us, Waiting waiting) {
  switch (stage_) {
    case Stage::kOpening:
      return FinishOpening(waiting);
    case Stage::kSaving:
      return SaveSegments(budget_us, waiting);
    case Stage::kSyncing:
      return FinishSyncing(waiting);
    case Stage::kPublishing: {
      const auto done = WorkerDone(waiting);
      if (done.ok() && *done) stage_ = Stage::kPublished;
      return done.status();
    }
    case Stage::kAbandoning: {
      const auto done = WorkerDone(waiting);
      if (!done.ok() || *done) stage_ = Stage::kRemoved;
      return absl::OkStatus();
    }
    case Stage::kPublished:
    case Stage::kRemoved:
      break;
  }
  return absl::OkStatus();
}

absl::Status Rewrite::FinishOpening(Waiting waiting) {
  if (parts_.worker.busy()) {
    const auto done = WorkerDone(waiting);
    if (!done.ok() || !*done) return done.status();
  }
  const bool may_begin = waiting == Waiting::kForTheDisk || parts_.log.MayBeginSnapshot(syncs_);
  return may_begin ? BeginWalk() : absl::OkStatus();
}

absl::Status Rewrite::BeginWalk() {
  const auto begin = parts_.log.BeginSnapshot(log_);
  if (!begin.ok()) return begin.status();
  const LogPosition& position = begin->position;
  log_in_use_ = begin->in_next;
  first_log_ = position.sequence;
  covered_bytes_ = position.offset;
  stream_id_ = parts_.log.stream_id();
  stream_offset_ = parts_.log.stream_offset();
  writer_ =
      std::make_unique<BaseWriter>(parts_.files.system(), std::move(base_.file),
                                   BaseHeader{parts_.clock.now_ms(), base_.sequence,
                                              position.sequence, position.offset, position.crc},
                                   BaseWriter::Options());
  walk_ = std::make_unique<SnapshotWalk>(parts_.engine, *writer_, epoch_);
  progress_.emplace(Clock::MonotonicMicros());
  keys_total_ = CountKeys(parts_.engine);
  changes_ = parts_.stats.changes_since_save;
  stage_ = Stage::kSaving;
  if (!is_retry_) parts_.report.RewriteBegins(base_.sequence);
  return absl::OkStatus();
}

// Stops while the disk is behind: the walk goes on in a later turn.
absl::Status Rewrite::SaveSegments(int64_t budget_us, Waiting waiting) {
  const int64_t begin = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  do {
    if (waiting == Waiting::kForTheDisk) writer_->WaitWhileThrottled();
    if (writer_->Throttled()) return absl::OkStatus();
    more = walk_->SaveNext();
    if (progress_->ReportDue(Clock::MonotonicMicros())) parts_.report.Rewriting(*figures());
  } while (more.ok() && *more && Clock::MonotonicMicros() - begin < budget_us);
  if (!more.ok()) return more.status();
  if (*more) return absl::OkStatus();
  walk_ = nullptr;
  stage_ = Stage::kSyncing;
  return writer_->Finish();
}

absl::Status Rewrite::FinishSyncing(Waiting waiting) {
  if (waiting == Waiting::kForTheDisk) {
    if (absl::Status status = writer_->WaitSynced(); !status.ok()) return status;
  }
  const auto synced = writer_->PollSynced();
  if (!synced.ok() || !*synced) return synced.status();
  stage_ = Stage::kPublishing;
  AofDirectory& directory = parts_.files.directory();
  parts_.worker.Start([this, &directory] {
    const absl::Status status = directory.PublishBase(base_.sequence, first_log_);
    // What cannot be removed now is removed at the next start.
    if (status.ok()) directory.RemoveObsolete().IgnoreError();
    return status;
  });
  return absl::OkStatus();
}

absl::StatusOr<bool> Rewrite::WorkerDone(Waiting waiting) {
  if (waiting == Waiting::kForTheDisk) {
    absl::Status status = parts_.worker.Wait().status;
    if (!status.ok()) return status;
    return true;
  }
  const auto result = parts_.worker.Poll();
  if (!result.has_value()) return false;
  if (!result->status.ok()) return result->status;
  return true;
}

void Rewrite::Abandon() {
  if (stage_ == Stage::kAbandoning) return;
  if (parts_.worker.busy()) parts_.worker.Wait();
  if (log_in_use_) parts_.log.set_awaits_base(true);
  walk_ = nullptr;
  progress_.reset();
  stage_ = Stage::kAbandoning;
  AofDirectory& directory = parts_.files.directory();
  // Closing and removing a large file takes long, so the worker does it.
  parts_.worker.Start([this, &directory] {
    writer_ = nullptr;
    if (base_.sequence != 0) directory.AbandonBase(base_.sequence);
    const bool log_is_unused = log_.sequence != 0 && !log_in_use_;
    if (log_is_unused) directory.RetractLog(log_.sequence).IgnoreError();
    // What cannot be removed now is removed by the next rewrite, or the next start.
    directory.RemoveObsolete().IgnoreError();
    return absl::OkStatus();
  });
}

uint64_t Rewrite::keys_saved() const {
  return walk_ != nullptr ? walk_->keys_saved() : keys_total_;
}

// Counts in keys. With few keys it counts in bytes instead: the new base is likely to be about as
// large as the last one. It then shows at most 99% until the walk has ended.
Extent Rewrite::Saved() const {
  const uint64_t last_bytes = parts_.files.base_bytes();
  const bool by_bytes = keys_total_ < kFewKeys && last_bytes > 0;
  if (walk_ == nullptr || !by_bytes) return {keys_saved(), keys_total_};
  const uint64_t not_all = last_bytes - last_bytes / 100;
  return {std::min(writer_->bytes(), not_all), last_bytes};
}

std::optional<SavingFigures> Rewrite::figures() const {
  if (!progress_.has_value()) return std::nullopt;
  const Extent extent = Saved();
  return SavingFigures{{keys_saved(), keys_total_},
                       writer_->bytes(),
                       extent,
                       progress_->SecondsLeft(extent.done, extent.total, Clock::MonotonicMicros())};
}

}  // namespace tally::server
