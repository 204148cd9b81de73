// Writes a snapshot of an engine that goes on changing, segment by segment, without fork and
// without a full copy. The snapshot holds the state of the moment in which the walk began: a key
// that is about to change before its segment's turn has come is saved first (see TableSnapshot):
// the engine notifies the walk. Large values wait in a queue and are saved in slices, and a large
// record is written in parts. If a database is swapped, the walk follows it; if a database is
// emptied, the walk keeps its content until it is saved.
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
#include "core/table/table_snapshot.h"

namespace tally {

class SnapshotWalk final : private Engine::SnapshotObserver {
 public:
  // `epoch` must be higher than that of any walk before, and no other walk may be under way. Saves
  // the engine's state of this moment; policies are written here. O(policies).
  SnapshotWalk(Engine& engine, RecordSink& sink, uint64_t epoch);
  ~SnapshotWalk();
  SnapshotWalk(const SnapshotWalk&) = delete;
  SnapshotWalk& operator=(const SnapshotWalk&) = delete;

  // Saves the next segment, a key, or a slice of a value; returns false when all is saved. An error
  // may come from what was saved before a change. After it the snapshot is lost: nothing more is
  // saved, and each call returns the error.
  absl::StatusOr<bool> SaveNext();

  // The number of keys whose records are completely written.
  uint64_t keys_saved() const { return keys_ - values_.size(); }

 private:
  // If the walk still needs the content of the database, it takes the content over and leaves the
  // database empty; otherwise it changes nothing. O(1).
  void BeforeClear(size_t database) override;
  void BeforeSwap(size_t one, size_t other) override;
  void BeforeChange(Keyspace& keyspace, Keyspace::Segment& segment, std::string_view key,
                    const Keyspace::Entry& entry) override;
  void BeforeValueChange(void* value, ByteRange bytes) override;
  bool KeepValue(void* value) override { return values_.Keep(value); }

  // A database as it was when the walk began.
  struct Part {
    Keyspace* keyspace = nullptr;    // where it is now: in the engine, or kept
    std::unique_ptr<Keyspace> kept;  // set if the database was emptied since
    TableSnapshot records;
    bool done = false;
  };
  static constexpr size_t kNoPart = SIZE_MAX;

  absl::StatusOr<bool> SaveSome();
  // Writes the entry and subtracts its cost from `most_cost`. If a heap value costs more than
  // `most_cost` or kMostValueCost, puts it in the queue instead.
  absl::Status SaveEntry(size_t part, const Keyspace::Entry& entry, size_t& most_cost);
  // Returns the part to go on with, kept parts first; kNoPart when all are done.
  size_t NextPart() const;

  Engine& engine_;
  const uint64_t epoch_;         // of the segments that are saved
  std::vector<Part> parts_;      // by the database's number when the walk began
  std::vector<size_t> part_of_;  // by the database's number now; kNoPart: content is newer
  size_t kept_ = 0;
  uint64_t keys_ = 0;    // written, or waiting in values_
  absl::Status status_;  // the first error
  RecordEmitter emitter_;
  ValueQueue values_;
};

}  // namespace tally
