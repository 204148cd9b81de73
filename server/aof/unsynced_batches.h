// The batches that are written to the log and not known to be on disk. They are kept in memory, so
// that they can be written again if a sync fails. Says when, with appendfsync everysec, a sync is
// due and when nothing more may be acknowledged before it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "core/bytes/byte_blocks.h"
#include "server/aof/log_format.h"

namespace tally::server {

// The batches are in groups, oldest first: each group is what one sync covers.
class UnsyncedBatches {
 public:
  static constexpr int64_t kSyncAfterMs = 500;  // a group waits this long for its sync

  explicit UnsyncedBatches(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Begins a group, which covers the log up to `end` so far. `now_ms`, here and below, comes from a
  // clock that never goes back.
  void BeginGroup(const LogPosition& end, int64_t now_ms) { groups_.push_back({{}, end, now_ms}); }
  // Adds to the newest group (there is one) a batch that ends at `end` in the log, and leaves any
  // bytes in `batch`: a long one is taken over, because to copy a value of many megabytes stops
  // everybody.
  void Append(std::string& batch, const LogPosition& end);
  size_t groups() const { return groups_.size(); }
  // The sync of the oldest group has succeeded: its batches are forgotten. Returns its end.
  LogPosition SyncEnded();
  // Everything is on disk, or need not be kept.
  void Clear();

  // Whether the next batch must wait for a sync: the oldest batch has waited for one second, or
  // more than `max_bytes` are kept.
  bool IsBehind(int64_t now_ms) const;
  // Whether the sync of the newest group should begin: it has waited for half a second, or has more
  // than half of `max_bytes`.
  bool IsSyncDue(int64_t now_ms) const;

  size_t size() const { return size_; }
  // All batches, oldest first. O(bytes).
  std::string Joined() const;

 private:
  // Short batches, and then a long one, or none.
  struct Part {
    ByteBlocks short_batches;
    std::string long_batch;
  };
  struct Group {
    size_t size() const;

    std::deque<Part> parts;
    LogPosition end;
    int64_t since_ms;  // when its first batch was written
  };

  size_t max_bytes_;
  std::deque<Group> groups_;
  size_t size_ = 0;
};

}  // namespace tally::server
