// Writes a snapshot of an engine that goes on changing, segment by segment, without fork and
// without a copy: what is about to change before its segment's turn has come is saved first, so
// that the snapshot holds the state of the moment in which the walk began. A few keys of a segment
// are saved one by one; when more of them change, the whole segment is. Large values wait in a
// queue, and are saved in slices of their own. The walk follows a database that is swapped, and
// keeps one that is emptied until it is saved.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "core/engine/engine.h"
#include "core/snapshot/record_emitter.h"
#include "core/snapshot/record_sink.h"
#include "core/snapshot/value_queue.h"

namespace tally {

class SnapshotWalk {
 public:
  // `epoch` is higher than that of any walk before. The engine's state of now is saved.
  SnapshotWalk(Engine& engine, RecordSink& sink, uint64_t epoch);
  ~SnapshotWalk();
  SnapshotWalk(const SnapshotWalk&) = delete;
  SnapshotWalk& operator=(const SnapshotWalk&) = delete;

  // Saves the next segment, or a slice of a value; false when all is saved. After an error, of any
  // call, the snapshot is lost.
  absl::StatusOr<bool> SaveNext();

  // The database is about to be emptied. It is empty afterwards, and the walk has what was in it.
  // O(1).
  void BeforeClear(size_t database);
  // The two are about to be swapped. O(1).
  void BeforeSwap(size_t one, size_t other);

  // See Keyspace::Observer.
  absl::Status SaveBeforeChange(size_t database, Keyspace::Segment& segment, std::string_view key,
                                const Keyspace::Entry& entry);
  absl::Status SaveBeforeValueChange(void* value) { return values_.BeforeChange(value); }
  bool KeepValue(const void* value) { return values_.Keep(value); }

  // Keys whose records are written.
  uint64_t keys_saved() const { return keys_ - values_.size(); }

 private:
  // What was a database when the walk began.
  struct Part {
    Keyspace* keyspace = nullptr;    // where it is now: in the engine, or kept
    std::unique_ptr<Keyspace> kept;  // has been emptied since
    uint64_t position = 0;           // of the walk
    bool done = false;
  };
  static constexpr size_t kNoPart = SIZE_MAX;

  absl::Status Save(size_t part, Keyspace::Segment& segment);
  // Writes the entry, or has its value wait if saving it takes longer than `most_cost`; takes from
  // that what it cost.
  absl::Status SaveEntry(size_t part, const Keyspace::Entry& entry, size_t& most_cost);
  // The part to go on with, what is kept before the rest; kNoPart when all are done.
  size_t NextPart() const;

  Engine& engine_;
  const uint64_t epoch_;
  std::vector<Part> parts_;      // by the database's number when the walk began
  std::vector<size_t> part_of_;  // by the database's number now; kNoPart: it holds what is newer
  size_t kept_ = 0;
  uint64_t keys_ = 0;  // written, or waiting in values_
  bool policies_saved_ = false;
  RecordEmitter emitter_;
  ValueQueue values_;
};

}  // namespace tally
