// Which names weigh most in a stream of them, in memory that does not grow with the stream.
//
// The space-saving algorithm: Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and
// Top-k Elements in Data Streams", 2005. It holds a fixed number of names with their weights. A
// name that comes while all places are taken gets the place of the lightest, and starts from its
// weight.
//
// After a total weight of W with room for k names:
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

// What is counted: a key, and a label that says of what. They are told apart by their hash, and
// kept to be shown.
struct SketchName {
  std::string_view key;
  std::string_view label = {};
  uint8_t kind = 0;  // as the caller likes
};

// Well mixed; names that differ in key, label or kind differ in it but for one pair in 2^64.
uint64_t HashOf(const SketchName& name, uint64_t seed);

class SpaceSaving {
 public:
  static constexpr size_t kMaxCapacity = 32767;

  struct Item {
    uint64_t hash = 0;
    uint64_t count = 0;  // never below the true weight
    uint64_t error = 0;  // and at most this much above it
    int64_t last_ms = 0;
    ShortText<64> key;
    ShortText<40> label;
    uint8_t kind = 0;
  };

  // Room for `capacity` names, in [1, kMaxCapacity]. Takes its memory at the first Add.
  explicit SpaceSaving(size_t capacity) : capacity_(capacity) {}

  // An item to add: `hash` tells the name apart from all others, `weight` may be 0.
  static Item ItemOf(uint64_t hash, const SketchName& name, uint64_t weight, int64_t at_ms);
  // Adds the count of an item without an error. The counts of all calls together fit uint64. O(log
  // capacity).
  void Add(const Item& item);
  // In no order.
  std::span<const Item> items() const { return items_; }
  // The most that a name which is not held can weigh.
  uint64_t bound() const { return items_.size() < capacity_ ? 0 : items_[heap_[0]].count; }
  size_t capacity() const { return capacity_; }
  // Forgets the names, and keeps the memory.
  void Clear();
  size_t MemoryBytes() const;

 private:
  // Where the hash is in the index, or the empty place where it would be.
  size_t Slot(uint64_t hash) const;
  void EraseSlot(size_t slot);
  void Reserve();
  // The item takes the place, and the weight, of the lightest.
  void Replace(uint16_t lightest, const Item& item);
  void Swap(size_t one, size_t other);
  void MoveUp(size_t place);
  void MoveDown(size_t place);

  size_t capacity_;
  std::vector<Item> items_;
  std::vector<uint16_t> heap_;   // items, the lightest first
  std::vector<uint16_t> place_;  // of each item in the heap
  std::vector<uint16_t> index_;  // open addressing by hash: an item's number and 1, or 0
};

}  // namespace tally
