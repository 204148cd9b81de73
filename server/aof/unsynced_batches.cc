#include "server/aof/unsynced_batches.h"

namespace tally::server {
namespace {

constexpr int64_t kWaitAfterMs = 1000;  // a batch waits this long before the next one waits for it

}  // namespace

void UnsyncedBatches::Append(std::string_view batch, const LogPosition& end) {
  Group& newest = groups_.back();
  newest.batches.Append(batch);
  newest.end = end;
  size_ += batch.size();
}

LogPosition UnsyncedBatches::SyncEnded() {
  const LogPosition end = groups_.front().end;
  size_ -= groups_.front().batches.size();
  groups_.pop_front();
  return end;
}

void UnsyncedBatches::Clear() {
  groups_.clear();
  size_ = 0;
}

bool UnsyncedBatches::IsBehind(int64_t now_ms) const {
  if (size_ == 0) return false;
  return now_ms - groups_.front().since_ms >= kWaitAfterMs || size_ > max_bytes_;
}

bool UnsyncedBatches::IsSyncDue(int64_t now_ms) const {
  if (groups_.empty()) return false;
  const Group& newest = groups_.back();
  return now_ms - newest.since_ms >= kSyncAfterMs || newest.batches.size() > max_bytes_ / 2;
}

std::string UnsyncedBatches::Joined() const {
  std::string joined;
  joined.reserve(size_);
  for (const Group& group : groups_) joined += group.batches.Joined();
  return joined;
}

}  // namespace tally::server
