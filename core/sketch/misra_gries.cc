#include "core/sketch/misra_gries.h"

#include <algorithm>

namespace tally {

void MisraGries::Reserve() {
  sets_.resize(mask_ + 1);
  items_.resize(sets_.size() * kWays);
}

void MisraGries::TakeOff(uint64_t hash) {
  Set& first = sets_[FirstOf(hash)];
  Set& second = sets_[SecondOf(hash)];
  ++(first.base <= second.base ? first : second).base;
}

// The name goes into the set with more free slots, so that both sets become full as late as
// possible.
void MisraGries::Insert(uint64_t hash, int64_t at_ms, Name name) {
  struct Room {
    size_t set = 0;
    size_t free = 0;  // number of free slots
    size_t way = 0;   // one of the free slots
  };
  const auto room_of = [&](size_t number) {
    Room room{.set = number};
    for (size_t way = 0; way < kWays; ++way) {
      if (sets_[number].slots[way].count > sets_[number].base) continue;
      ++room.free;
      room.way = way;
    }
    return room;
  };
  const Room first = room_of(FirstOf(hash));
  const Room second = room_of(SecondOf(hash));
  const Room& room = first.free >= second.free ? first : second;
  if (room.free == 0) return TakeOff(hash);
  name(items_[room.set * kWays + room.way]);
  Set& set = sets_[room.set];
  const size_t shift = 8 * room.way;
  set.tags = (set.tags & ~(uint64_t{0xff} << shift)) | TagOf(hash) << shift;
  set.slots[room.way] = {.hash = hash, .count = set.base + 1, .last_ms = at_ms};
}

// A name can have lost counts only in its two sets: at most the two highest bases together.
uint64_t MisraGries::bound() const {
  uint64_t most = 0;
  uint64_t next = 0;
  for (const Set& set : sets_) {
    next = std::max(next, std::min(most, set.base));
    most = std::max(most, set.base);
  }
  return most + next;
}

void MisraGries::Clear() {
  for (Set& set : sets_) {
    set.base = 0;
    for (Slot& slot : set.slots) slot.count = 0;
  }
}

size_t MisraGries::MemoryBytes() const {
  return sets_.capacity() * sizeof(Set) + items_.capacity() * sizeof(Counter);
}

}  // namespace tally
