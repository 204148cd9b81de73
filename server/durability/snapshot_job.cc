#include "server/durability/snapshot_job.h"

#include <algorithm>

namespace tally::server {
namespace {

// With fewer keys than this, a single key may be most of the data, so keys say little about
// progress.
constexpr uint64_t kFewKeys = 1000;

}  // namespace

void SnapshotJob::Start() {
  parts_.worker.Start([this] { return OpenFiles(); });
}

absl::Status SnapshotJob::Advance(int64_t budget_us, Waiting waiting) {
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

absl::Status SnapshotJob::FinishOpening(Waiting waiting) {
  if (parts_.worker.busy()) {
    const auto done = WorkerDone(waiting);
    if (!done.ok() || !*done) return done.status();
  }
  if (waiting == Waiting::kNo && !MayBegin()) return absl::OkStatus();
  if (absl::Status status = BeginWriting(); !status.ok()) return status;
  walk_ = std::make_unique<SnapshotWalk>(parts_.engine, emitter(), epoch_);
  progress_.emplace(Clock::MonotonicMicros());
  stream_id_ = parts_.log.stream_id();
  stream_offset_ = parts_.log.stream_offset();
  keys_total_ = CountKeys(parts_.engine);
  changes_ = parts_.stats.changes_since_save;
  stage_ = Stage::kSaving;
  return absl::OkStatus();
}

// Stops while the disk is behind: the walk goes on in a later turn.
absl::Status SnapshotJob::SaveSegments(int64_t budget_us, Waiting waiting) {
  const int64_t begin_us = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  do {
    if (waiting == Waiting::kForTheDisk) file().WaitWhileThrottled();
    if (file().Throttled()) return absl::OkStatus();
    more = walk_->SaveNext();
    if (progress_->ReportDue(Clock::MonotonicMicros())) parts_.report.Rewriting(*figures());
  } while (more.ok() && *more && Clock::MonotonicMicros() - begin_us < budget_us);
  if (!more.ok()) return more.status();
  if (*more) return absl::OkStatus();
  walk_ = nullptr;
  stage_ = Stage::kSyncing;
  return EndWriting();
}

absl::Status SnapshotJob::FinishSyncing(Waiting waiting) {
  if (waiting == Waiting::kForTheDisk) {
    if (absl::Status status = file().WaitSynced(); !status.ok()) return status;
  }
  const auto synced = file().PollSynced();
  if (!synced.ok() || !*synced) return synced.status();
  stage_ = Stage::kPublishing;
  Prepare();
  parts_.worker.Start([this] { return Publish(); });
  return absl::OkStatus();
}

absl::StatusOr<bool> SnapshotJob::WorkerDone(Waiting waiting) {
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

void SnapshotJob::Abandon() {
  if (stage_ == Stage::kAbandoning) return;
  if (parts_.worker.busy()) parts_.worker.Wait();
  Abandoned();
  walk_ = nullptr;
  progress_.reset();
  stage_ = Stage::kAbandoning;
  // Closing and removing a large file takes long, so the worker does it.
  parts_.worker.Start([this] {
    Remove();
    return absl::OkStatus();
  });
}

uint64_t SnapshotJob::keys_saved() const {
  return walk_ != nullptr ? walk_->keys_saved() : keys_total_;
}

// Counts in keys. With few keys it counts in bytes instead: the new file is likely to be about as
// large as the last one. It then shows at most 99% until the walk has ended.
Extent SnapshotJob::Saved() {
  const uint64_t last_bytes = expected_bytes();
  const bool by_bytes = keys_total_ < kFewKeys && last_bytes > 0;
  if (walk_ == nullptr || !by_bytes) return {keys_saved(), keys_total_};
  const uint64_t not_all = last_bytes - last_bytes / 100;
  return {std::min(file().bytes(), not_all), last_bytes};
}

std::optional<SavingFigures> SnapshotJob::figures() {
  if (!progress_.has_value()) return std::nullopt;
  const Extent extent = Saved();
  return SavingFigures{{keys_saved(), keys_total_},
                       file().bytes(),
                       extent,
                       progress_->SecondsLeft(extent.done, extent.total, Clock::MonotonicMicros())};
}

}  // namespace tally::server
