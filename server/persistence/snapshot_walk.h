// Writes the base snapshot between loop turns, segment by segment, without fork and without a copy:
// a segment that is about to change before its turn has come is saved first, so that the snapshot
// holds the state of the moment in which the walk began. Very large values do the same with
// segments of their own.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

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

  // The value is about to be freed. True if its cut is under way: it is then the walk's, which
  // gives it to the engine's reclaimer in the end.
  bool KeepValue(const void* value);

  uint64_t keys() const { return keys_; }

 private:
  // A large value that is saved in slices of its own (ValueOperations::begin_cut).
  struct Cut {
    size_t database;
    std::string key;  // at the time of the cut
    Type type;
    void* value;
    bool is_orphan = false;
  };

  absl::Status Save(size_t database, Keyspace::Segment& segment);
  void BeginCut(size_t database, const Keyspace::Entry& entry);
  void EndCut(const Cut& cut);
  absl::Status SavePolicies();

  Engine& engine_;
  BaseWriter& writer_;
  const uint64_t epoch_;
  size_t database_ = 0;
  uint64_t position_ = 0;
  uint64_t keys_ = 0;
  bool policies_saved_ = false;
  std::string scratch_;
  std::deque<Cut> cuts_;
  absl::Status cut_status_;  // the first error of a cut's sink
};

}  // namespace tally::server
