// Holds the heap values that a snapshot walk has passed because they are too large to be saved at
// once. Each is saved in slices, with the content that it had when it was added. Before a queued
// value changes, a small one is saved whole; a larger one begins a snapshot of its own
// (ValueOperations::begin_snapshot, or TextSnapshot for a string) or is copied. A value that is
// about to be freed is kept.
//
// A value that cannot begin such a snapshot is copied before it changes, or saved whole if it is
// larger than 32 MiB: hit logs, limits, lists of integers (two bytes per integer), and any value of
// which some slices are already saved.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "core/engine/engine.h"
#include "core/snapshot/snapshot_emitter.h"
#include "core/snapshot/text_snapshot.h"

namespace tally {

// How long saving the value takes, in units of the time that one element takes.
size_t SavingCost(const Keyspace::Entry& entry);

class ValueQueue {
 public:
  ValueQueue(Engine& engine, SnapshotEmitter& emitter) : engine_(engine), emitter_(emitter) {}
  ~ValueQueue();
  ValueQueue(const ValueQueue&) = delete;
  ValueQueue& operator=(const ValueQueue&) = delete;

  // Adds the entry's heap value, to be saved as it is now. O(1).
  void Add(size_t database, const Keyspace::Entry& entry);
  bool empty() const { return pending_.empty(); }
  // The number of values that are not completely saved. O(1).
  size_t size() const { return pending_.size(); }
  // Saves a slice of the first value; the queue must not be empty. After an error of any call the
  // snapshot is lost.
  absl::Status SaveSome();

  // To be called before a value changes, a string only in these bytes; the value need not be in
  // the queue.
  absl::Status BeforeChange(void* value, ByteRange bytes = {});
  // To be called before a value is freed. Returns true if the queue takes the value over; it gives
  // the value to the engine's reclaimer later.
  bool Keep(const void* value);

 private:
  enum class Progress { kWaiting, kSlices, kSnapshot };
  struct PendingValue {
    ValueHead head;
    void* value = nullptr;
    Progress progress = Progress::kWaiting;
    uint64_t cursor = 0;     // of the next slice
    bool has_begun = false;  // its first run is written
    bool is_owned = false;
    std::unique_ptr<TextSnapshot> text{};  // of a string that is being saved or has changed
    std::string runs{};  // of its snapshot; if the key is long, several runs share a record
  };
  using Position = std::list<PendingValue>::iterator;

  const ValueOperations& OperationsFor(const PendingValue& value) const {
    return OperationsOf(value.head.type);
  }
  bool BeginSnapshot(PendingValue& value);
  static TextSnapshot& TextOf(PendingValue& value);
  // Appends the next slice; returns false if it is the last.
  bool AppendSlice(PendingValue& value, std::string& out);
  // Receives a run of the value's snapshot.
  void AddRun(PendingValue& value, std::string_view run);
  void WriteRuns(PendingValue& value);
  // Saves the next slice and removes the value if it was the last.
  absl::Status SaveSlice(Position position);
  absl::Status SaveRest(Position position);
  // Begins the value's next run; the caller appends it.
  std::string& BeginRun(PendingValue& value);
  // All of the value is written.
  absl::Status End(Position position);
  void Remove(Position position);

  Engine& engine_;
  SnapshotEmitter& emitter_;
  std::list<PendingValue> pending_;
  absl::flat_hash_map<const void*, Position> by_value_;
  absl::Status snapshot_status_;  // the first error of a snapshot's sink
};

}  // namespace tally
