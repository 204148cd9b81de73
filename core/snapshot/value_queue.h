// Heap values whose keys a snapshot has passed, but that are too large to be saved on the way. Each
// is saved in slices, as it was when it was added: a value that is about to change first begins a
// snapshot of its own (ValueOperations::begin_snapshot), is saved whole if it is not that large, or
// is copied; one that is about to be freed is kept.
//
// What no such snapshot can be taken of is copied, or if larger than 32 MiB saved, whole when it
// changes: strings, hit logs, limits, and lists of integers, which take two bytes for each.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>

#include <cstdint>
#include <list>
#include <string>
#include <string_view>

#include "core/engine/engine.h"
#include "core/snapshot/record_codec.h"
#include "core/snapshot/record_emitter.h"

namespace tally {

// How long it takes to save a value, in the time that an element takes.
size_t SavingCost(const Keyspace::Entry& entry);

class ValueQueue {
 public:
  ValueQueue(Engine& engine, RecordEmitter& emitter) : engine_(engine), emitter_(emitter) {}
  ~ValueQueue();
  ValueQueue(const ValueQueue&) = delete;
  ValueQueue& operator=(const ValueQueue&) = delete;

  // The entry's heap value as it is now is to be saved. O(1).
  void Add(size_t database, const Keyspace::Entry& entry);
  bool empty() const { return items_.empty(); }
  // Values that are not saved to their end. O(1).
  size_t size() const { return items_.size(); }
  // Saves a slice; not when empty. After an error, of any call, the snapshot is lost.
  absl::Status SaveSome();

  // The value, which need not be in the queue, is about to change.
  absl::Status BeforeChange(void* value);
  // It is about to be freed. True if the queue takes it over; it goes to the engine's reclaimer in
  // the end.
  bool Keep(const void* value);

 private:
  enum class Progress { kWaiting, kSlices, kSnapshot };
  struct Item {
    ValueHead head;
    void* value = nullptr;
    Progress progress = Progress::kWaiting;
    uint64_t cursor = 0;     // of the next slice
    bool has_begun = false;  // its first run is written
    bool is_owned = false;
    std::string runs{};  // of its snapshot: they wait for more of them, if the key is long
  };
  using Place = std::list<Item>::iterator;

  const ValueOperations& OperationsFor(const Item& item) const {
    return OperationsOf(item.head.type);
  }
  bool BeginSnapshot(Item& item);
  // Takes a run of a snapshot.
  void AddRun(Item& item, std::string_view run);
  void WriteRuns(Item& item);
  // Saves the next slice and removes the item if it was the last.
  absl::Status SaveSlice(Place place);
  absl::Status SaveRest(Place place);
  // Makes the emitter's record that of the item's next run, without that.
  void BeginRecord(Item& item);
  void Remove(Place place);

  Engine& engine_;
  RecordEmitter& emitter_;
  std::list<Item> items_;
  absl::flat_hash_map<const void*, Place> by_value_;
  absl::Status snapshot_status_;  // the first error of a snapshot's sink
};

}  // namespace tally
