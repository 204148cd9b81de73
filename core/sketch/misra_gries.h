// Finds the names that come most often in a stream of names, at the cost of a few instructions per
// name. It is the first step before sketches that are more exact and cost more.
//
// The algorithm of Misra and Gries, "Finding repeated elements", 1982, in many small sets. The hash
// of a name selects two sets, and the name is held in one of them. If a name is not held and all
// slots of both sets are taken, it is not counted, and 1 is subtracted from every count of one of
// the sets; a slot whose count has become 0 is free. Because a name can choose between two sets,
// this hardly happens before nine of ten slots are taken.
//
// After n names were added:
//   * a held name came at least `count` times, and at most bound() times more;
//   * a name that is not held came at most bound() times;
//   * bound() is at most 2n / 9, and about n / (number of slots) if there are many names.
#pragma once

#include <absl/functional/function_ref.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sketch/space_saving.h"

namespace tally {

class MisraGries {
 public:
  static constexpr size_t kWays = 8;
  using Counter = SpaceSaving::Counter;
  // Writes the name into an item; it need not write the other members.
  using Name = absl::FunctionRef<void(Counter&)>;

  // `sets` must be a power of two. Allocates its memory at the first Add.
  explicit MisraGries(size_t sets) : mask_(sets - 1) {}

  // Counts the name with this hash, which must not be 0, once more. Calls `name` only if the name
  // gets a new slot. `at_ms` is in unix ms. O(1).
  void Add(uint64_t hash, int64_t at_ms, Name name);
  // Calls visit(const Counter&) for each held name, in no order. The name came at least `count`
  // times.
  template <typename Visit>
  void ForEach(Visit&& visit) const;
  uint64_t bound() const;
  // Sets all counts to 0. A name that comes again before its slot is taken is not written again.
  void Clear();
  size_t MemoryBytes() const;

 private:
  // What counting a held name reads and writes lies together.
  struct Slot {
    uint64_t hash = 0;
    uint64_t count = 0;
    int64_t last_ms = 0;
  };
  // `base` is the sum that was subtracted from every count: a count <= base is really 0, and its
  // slot is free.
  struct Set {
    uint64_t tags = 0;  // a byte of each hash: comparing it nearly always leaves one slot, or none
    uint64_t base = 0;
    std::array<Slot, kWays> slots{};
  };

  static uint64_t TagOf(uint64_t hash) { return hash >> 56; }
  size_t FirstOf(uint64_t hash) const { return hash & mask_; }
  size_t SecondOf(uint64_t hash) const { return (hash >> 32) & mask_; }
  // Counts the name in this set; returns false if the set does not hold it.
  bool CountIn(size_t number, uint64_t hash, int64_t at_ms);
  void Insert(uint64_t hash, int64_t at_ms, Name name);
  void Reserve();
  // Subtracts 1 from every count of that set of the two which has lost less.
  void TakeOff(uint64_t hash);

  size_t mask_;
  std::vector<Set> sets_;
  std::vector<Counter> items_;  // kWays for each set; only the names in them are used
};

inline bool MisraGries::CountIn(size_t number, uint64_t hash, int64_t at_ms) {
  constexpr uint64_t kLow = 0x0101010101010101;
  constexpr uint64_t kHigh = 0x8080808080808080;
  Set& set = sets_[number];
  const uint64_t differing = set.tags ^ (TagOf(hash) * kLow);
  // `found` has the high bit of each byte of `differing` that is 0, and perhaps of some bytes above
  // it, so the whole hash is compared below.
  for (uint64_t found = (differing - kLow) & ~differing & kHigh; found != 0; found &= found - 1) {
    const auto way = static_cast<size_t>(std::countr_zero(found)) / 8;
    Slot& slot = set.slots[way];
    if (slot.hash != hash) continue;
    slot.count = std::max(slot.count, set.base) + 1;
    slot.last_ms = at_ms;
    return true;
  }
  return false;
}

inline void MisraGries::Add(uint64_t hash, int64_t at_ms, Name name) {
  if (sets_.empty()) Reserve();
  if (CountIn(FirstOf(hash), hash, at_ms) || CountIn(SecondOf(hash), hash, at_ms)) return;
  Insert(hash, at_ms, name);
}

template <typename Visit>
void MisraGries::ForEach(Visit&& visit) const {
  for (size_t i = 0; i < sets_.size(); ++i) {
    const Set& set = sets_[i];
    for (size_t way = 0; way < kWays; ++way) {
      const Slot& slot = set.slots[way];
      if (slot.count <= set.base) continue;
      Counter item = items_[i * kWays + way];
      item.hash = slot.hash;
      item.count = slot.count - set.base;
      item.error = 0;
      item.last_ms = slot.last_ms;
      visit(item);
    }
  }
}

}  // namespace tally
