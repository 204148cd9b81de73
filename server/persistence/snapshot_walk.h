// Writes the base snapshot between loop turns, segment by segment, without fork and without a copy:
// what is about to change before its segment's turn has come is saved first, so that the snapshot
// holds the state of the moment in which the walk began. A few keys of a segment are saved one by
// one; when more of them change, the whole segment is. Large values wait in a queue, and are saved
// in slices of their own.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/engine.h"
#include "server/aof/base_snapshot.h"
#include "server/persistence/value_queue.h"

namespace tally::server {

class SnapshotWalk {
 public:
  // `epoch` is higher than that of any walk before. The engine's state from now on is saved.
  SnapshotWalk(Engine& engine, BaseWriter& writer, uint64_t epoch);
  ~SnapshotWalk();
  SnapshotWalk(const SnapshotWalk&) = delete;
  SnapshotWalk& operator=(const SnapshotWalk&) = delete;

  // Saves the next segment, or a slice of a value; false when all is saved. After an error, of any
  // call, the snapshot is lost.
  absl::StatusOr<bool> SaveNext();

  // See Keyspace::Observer.
  absl::Status SaveBeforeChange(size_t database, Keyspace::Segment& segment, std::string_view key,
                                const Keyspace::Entry& entry);
  absl::Status SaveBeforeValueChange(void* value) { return values_.BeforeChange(value); }
  bool KeepValue(const void* value) { return values_.Keep(value); }

  // Keys whose records are written.
  uint64_t keys_saved() const { return keys_ - values_.size(); }

 private:
  absl::Status Save(size_t database, Keyspace::Segment& segment);
  // Writes the entry, or has its value wait if saving it takes longer than `most_cost`; takes from
  // that what it cost.
  absl::Status SaveEntry(size_t database, const Keyspace::Entry& entry, size_t& most_cost);
  absl::Status SavePolicies();

  Engine& engine_;
  BaseWriter& writer_;
  const uint64_t epoch_;
  size_t database_ = 0;
  uint64_t position_ = 0;
  uint64_t keys_ = 0;  // written, or waiting in values_
  bool policies_saved_ = false;
  std::string scratch_;
  ValueQueue values_;
};

}  // namespace tally::server
