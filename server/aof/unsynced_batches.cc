#include "server/aof/unsynced_batches.h"

namespace tally::server {
namespace {

constexpr int64_t kWaitAfterMs = 1000;  // a batch waits this long before the next one waits for it
constexpr size_t kLongBatch = size_t{1} << 20;  // longer batches are taken over, not copied

}  // namespace

size_t UnsyncedBatches::Group::size() const {
  size_t bytes = 0;
  for (const Part& part : parts) bytes += part.short_batches.size() + part.long_batch.size();
  return bytes;
}

void UnsyncedBatches::Append(std::string& batch, const LogPosition& end) {
  Group& newest = groups_.back();
  newest.end = end;
  size_ += batch.size();
  if (newest.parts.empty() || !newest.parts.back().long_batch.empty()) newest.parts.emplace_back();
  Part& part = newest.parts.back();
  if (batch.size() > kLongBatch) {
    part.long_batch.swap(batch);
  } else {
    part.short_batches.Append(batch);
  }
}

LogPosition UnsyncedBatches::SyncEnded() {
  const LogPosition end = groups_.front().end;
  size_ -= groups_.front().size();
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
  return now_ms - newest.since_ms >= kSyncAfterMs || newest.size() > max_bytes_ / 2;
}

std::string UnsyncedBatches::Joined() const {
  std::string joined;
  joined.reserve(size_);
  for (const Group& group : groups_) {
    for (const Part& part : group.parts) joined += part.short_batches.Joined() + part.long_batch;
  }
  return joined;
}

}  // namespace tally::server
