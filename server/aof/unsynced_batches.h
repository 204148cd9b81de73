// The batches that are written to the log and not known to be on disk. They are kept in memory, so
// that they can be written again if a sync fails. Says when, with appendfsync everysec, a sync is
// due and when nothing more may be acknowledged before it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/bytes/byte_blocks.h"

namespace tally::server {

// The batches that the running sync covers are followed by those that were written after its start.
class UnsyncedBatches {
 public:
  explicit UnsyncedBatches(size_t max_bytes) : max_bytes_(max_bytes) {}

  // `now_ms`, here and below, comes from a clock that never goes back. O(bytes).
  void Append(std::string_view batch, int64_t now_ms);
  // A sync of all batches starts; none may be running. O(1).
  void SyncStarted();
  // The running sync has succeeded: its batches are forgotten.
  void SyncEnded() { syncing_.Clear(); }
  // Everything is on disk, or need not be kept.
  void Clear();

  // Whether the next batch must wait for a sync: the oldest batch has waited for one second, or
  // more than `max_bytes` are kept.
  bool IsBehind(int64_t now_ms) const;
  // Whether a sync should start if none is running: the oldest batch that none covers has waited
  // for half a second, or its followers have more than half of `max_bytes`.
  bool IsSyncDue(int64_t now_ms) const;

  size_t size() const { return syncing_.size() + waiting_.size(); }
  // All batches, oldest first. O(bytes).
  std::string Joined() const;

 private:
  size_t max_bytes_;
  ByteBlocks waiting_;  // batches after syncing_
  ByteBlocks syncing_;  // batches that the running sync covers
  int64_t waiting_since_ms_ = 0;
  int64_t syncing_since_ms_ = 0;
};

}  // namespace tally::server
