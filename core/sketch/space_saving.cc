#include "core/sketch/space_saving.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace tally {

uint64_t HashOf(const SketchName& name, uint64_t seed) {
  const uint64_t label = XXH3_64bits_withSeed(name.label.data(), name.label.size(), seed);
  return XXH3_64bits_withSeed(name.key.data(), name.key.size(), label + name.kind);
}

void SpaceSaving::Reserve() {
  items_.reserve(capacity_);
  heap_.reserve(capacity_);
  place_.reserve(capacity_);
  index_.assign(std::bit_ceil(2 * capacity_), 0);
}

size_t SpaceSaving::Slot(uint64_t hash) const {
  const size_t mask = index_.size() - 1;
  size_t slot = hash & mask;
  while (index_[slot] != 0 && items_[index_[slot] - 1].hash != hash) slot = (slot + 1) & mask;
  return slot;
}

// Moves the entries after it back, but not before their home slots, so that no tombstone is needed.
void SpaceSaving::EraseSlot(size_t slot) {
  const size_t mask = index_.size() - 1;
  size_t hole = slot;
  for (size_t next = (slot + 1) & mask; index_[next] != 0; next = (next + 1) & mask) {
    const size_t home = items_[index_[next] - 1].hash & mask;
    if (((next - home) & mask) < ((next - hole) & mask)) continue;
    index_[hole] = index_[next];
    hole = next;
  }
  index_[hole] = 0;
}

void SpaceSaving::Swap(size_t one, size_t other) {
  std::swap(heap_[one], heap_[other]);
  place_[heap_[one]] = static_cast<uint16_t>(one);
  place_[heap_[other]] = static_cast<uint16_t>(other);
}

void SpaceSaving::MoveUp(size_t place) {
  while (place > 0) {
    const size_t parent = (place - 1) / 2;
    if (items_[heap_[parent]].count <= items_[heap_[place]].count) return;
    Swap(place, parent);
    place = parent;
  }
}

void SpaceSaving::MoveDown(size_t place) {
  const uint64_t count = items_[heap_[place]].count;
  while (true) {
    size_t child = 2 * place + 1;
    if (child >= heap_.size()) return;
    if (child + 1 < heap_.size() && items_[heap_[child + 1]].count < items_[heap_[child]].count) {
      ++child;
    }
    if (count <= items_[heap_[child]].count) return;
    Swap(place, child);
    place = child;
  }
}

SpaceSaving::Counter SpaceSaving::CounterOf(uint64_t hash, const SketchName& name, uint64_t weight,
                                            int64_t at_ms) {
  return {.hash = hash,
          .count = weight,
          .error = 0,
          .last_ms = at_ms,
          .key = ShortText<64>(name.key),
          .label = ShortText<40>(name.label),
          .kind = name.kind};
}

void SpaceSaving::Add(const Counter& item) {
  if (index_.empty()) Reserve();
  const size_t slot = Slot(item.hash);
  if (index_[slot] != 0) {
    Counter& known = items_[index_[slot] - 1];
    known.count += item.count;
    known.last_ms = std::max(known.last_ms, item.last_ms);
    return MoveDown(place_[index_[slot] - 1]);
  }
  if (items_.size() < capacity_) {
    const auto number = static_cast<uint16_t>(items_.size());
    items_.push_back(item);
    heap_.push_back(number);
    place_.push_back(number);
    index_[slot] = static_cast<uint16_t>(number + 1);
    return MoveUp(number);
  }
  Replace(heap_[0], item);
}

void SpaceSaving::Replace(uint16_t lightest, const Counter& item) {
  const uint64_t before = items_[lightest].count;
  EraseSlot(Slot(items_[lightest].hash));
  items_[lightest] = item;
  items_[lightest].count += before;
  items_[lightest].error = before;
  index_[Slot(item.hash)] = static_cast<uint16_t>(lightest + 1);
  MoveDown(0);
}

void SpaceSaving::Clear() {
  items_.clear();
  heap_.clear();
  place_.clear();
  std::fill(index_.begin(), index_.end(), uint16_t{0});
}

size_t SpaceSaving::MemoryBytes() const {
  return items_.capacity() * sizeof(Counter) +
         (heap_.capacity() + place_.capacity() + index_.capacity()) * sizeof(uint16_t);
}

}  // namespace tally
