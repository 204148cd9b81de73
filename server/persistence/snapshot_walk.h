// Writes the base snapshot between loop turns, segment by segment, without fork and without a copy:
// a segment that is about to change before its turn has come is saved first, so that the snapshot
// holds the state of the moment in which the walk began.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>

#include "core/engine.h"
#include "server/aof/base_snapshot.h"

namespace tally::server {

class SnapshotWalk {
 public:
  // `epoch` is higher than that of any walk before. The engine's state from now on is saved.
  SnapshotWalk(Engine& engine, BaseWriter& writer, uint64_t epoch);
  ~SnapshotWalk();
  SnapshotWalk(const SnapshotWalk&) = delete;
  SnapshotWalk& operator=(const SnapshotWalk&) = delete;

  // Saves the next segment; false when all are saved. After an error the snapshot is lost.
  absl::StatusOr<bool> SaveNext();
  // The segment is about to change.
  absl::Status SaveBeforeChange(size_t database, Keyspace::Segment& segment);

  uint64_t keys() const { return keys_; }

 private:
  absl::Status Save(size_t database, Keyspace::Segment& segment);

  Engine& engine_;
  BaseWriter& writer_;
  const uint64_t epoch_;
  size_t database_ = 0;
  uint64_t position_ = 0;
  uint64_t keys_ = 0;
  std::string scratch_;
};

}  // namespace tally::server
