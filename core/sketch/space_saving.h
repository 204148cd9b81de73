// Finds the names with the highest weight in a stream of any length, in memory of fixed size.
//
// The space-saving algorithm: Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and
// Top-k Elements in Data Streams", 2005. It holds a fixed number of names with their weights. A
// new name that comes while all places are taken replaces the lightest name and starts from its
// weight.
//
// After names of total weight W were added, with room for k names:
//   * a held name's true weight is in [count - error, count];
//   * a name that is not held weighs at most bound();
//   * every error, and bound(), is at most W / k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/sketch/short_text.h"

namespace tally {

// What is counted: a key, and a label that says what the key belongs to. Names are distinguished by
// their hash; key and label are kept only to be shown.
struct SketchName {
  std::string_view key;
  std::string_view label = {};
  uint8_t kind = 0;  // the caller gives it a meaning
};

// The hash is well mixed. Names that differ in key, label or kind have the same hash with a
// probability of 2^-64.
uint64_t HashOf(const SketchName& name, uint64_t seed);

class SpaceSaving {
 public:
  static constexpr size_t kMaxCapacity = 32767;

  struct Counter {
    uint64_t hash = 0;
    uint64_t count = 0;  // never below the true weight
    uint64_t error = 0;  // `count` is at most this much above the true weight
    int64_t last_ms = 0;
    ShortText<64> key;
    ShortText<40> label;
    // The caller gives these a meaning. Names that differ in them must have different hashes.
    uint8_t kind = 0;
    uint16_t database = 0;
    uint16_t place = 0;
  };

  // Has room for `capacity` names, in [1, kMaxCapacity]. Allocates its memory at the first Add.
  explicit SpaceSaving(size_t capacity) : capacity_(capacity) {}

  // Makes an item for Add(). `hash` distinguishes the name from all others; `weight` may be 0;
  // `at_ms` is in unix ms.
  static Counter CounterOf(uint64_t hash, const SketchName& name, uint64_t weight, int64_t at_ms);
  // Adds item.count to the name of the item, whose error must be 0. The sum of the counts of all
  // calls must fit into uint64. O(log capacity).
  void Add(const Counter& item);
  // The names held, in no order.
  std::span<const Counter> items() const { return items_; }
  // The highest weight that a name which is not held can have.
  uint64_t bound() const { return items_.size() < capacity_ ? 0 : items_[heap_[0]].count; }
  size_t capacity() const { return capacity_; }
  // Forgets the names but keeps the memory.
  void Clear();
  size_t MemoryBytes() const;

 private:
  // Returns the place of the hash in the index, or the empty place where it would be inserted.
  size_t Slot(uint64_t hash) const;
  void EraseSlot(size_t slot);
  void Reserve();
  // Puts the item in the place of the lightest name; its count starts from that name's count.
  void Replace(uint16_t lightest, const Counter& item);
  void Swap(size_t one, size_t other);
  void MoveUp(size_t place);
  void MoveDown(size_t place);

  size_t capacity_;
  std::vector<Counter> items_;
  std::vector<uint16_t> heap_;   // min-heap of items by count
  std::vector<uint16_t> place_;  // the place of each item in heap_
  std::vector<uint16_t> index_;  // open addressing by hash: number of the item + 1; 0 if empty
};

}  // namespace tally
