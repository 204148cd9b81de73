#include "core/set/int_set.h"

#include <cstdlib>
#include <cstring>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

constexpr size_t kMaxElements = size_t{1} << 29;

template <typename Int>
int64_t Read(const char* at) {
  Int value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

template <typename Int>
bool Fits(int64_t value) {
  return value == static_cast<Int>(value);
}

uint32_t WidthOf(int64_t value) { return Fits<int16_t>(value) ? 2 : Fits<int32_t>(value) ? 4 : 8; }

}  // namespace

IntSet IntSet::Clone() const {
  IntSet copy;
  if (block_ == nullptr) return copy;
  copy.Reserve(block_->size, block_->width);
  std::memcpy(copy.data(), data(), size_t{block_->size} * block_->width);
  copy.block_->size = block_->size;
  return copy;
}

int64_t IntSet::At(size_t rank) const {
  const char* at = data() + rank * block_->width;
  switch (block_->width) {
    case 2:
      return Read<int16_t>(at);
    case 4:
      return Read<int32_t>(at);
    default:
      return Read<int64_t>(at);
  }
}

void IntSet::Store(size_t rank, int64_t value) {
  // Little-endian: the low bytes come first.
  std::memcpy(data() + rank * block_->width, &value, block_->width);
}

template <typename Int>
size_t IntSet::LowerBoundAs(int64_t value) const {
  size_t first = 0;
  for (size_t left = block_->size; left > 0;) {
    const size_t half = left / 2;
    const bool below = Read<Int>(data() + (first + half) * sizeof(Int)) < value;
    first = below ? first + half + 1 : first;
    left = below ? left - half - 1 : half;
  }
  return first;
}

size_t IntSet::LowerBound(int64_t value) const {
  switch (block_->width) {
    case 2:
      return LowerBoundAs<int16_t>(value);
    case 4:
      return LowerBoundAs<int32_t>(value);
    default:
      return LowerBoundAs<int64_t>(value);
  }
}

bool IntSet::Contains(int64_t value) const {
  if (block_ == nullptr || WidthOf(value) > block_->width) return false;
  const size_t rank = LowerBound(value);
  return rank < block_->size && At(rank) == value;
}

bool IntSet::Insert(int64_t value) {
  const size_t old_size = size();
  Check(old_size < kMaxElements, "an intset stays small");
  const uint32_t width = WidthOf(value);
  if (block_ == nullptr || width > block_->width) {
    Reserve(old_size + 1, width);
  }
  const size_t rank = LowerBound(value);
  if (rank < old_size && At(rank) == value) return false;
  Reserve(old_size + 1, block_->width);
  char* place = data() + rank * block_->width;
  std::memmove(place + block_->width, place, (old_size - rank) * block_->width);
  ++block_->size;
  Store(rank, value);
  return true;
}

bool IntSet::Erase(int64_t value) {
  if (!Contains(value)) return false;
  if (block_->size == 1) {
    Clear();
    return true;
  }
  const size_t rank = LowerBound(value);
  char* place = data() + rank * block_->width;
  --block_->size;
  std::memmove(place, place + block_->width, (block_->size - rank) * block_->width);
  return true;
}

void IntSet::Clear() {
  std::free(block_);
  block_ = nullptr;
}

size_t IntSet::MemoryBytes() const {
  return block_ == nullptr
             ? 0
             : HeapBytes(sizeof(Block) + size_t{block_->capacity} * size_t{block_->width});
}

void IntSet::Reserve(size_t elements, uint32_t width) {
  if (block_ != nullptr && block_->width == width && elements <= block_->capacity) return;
  // Takes the whole size class. There are four classes to each doubling, so growth is amortised.
  const size_t bytes = HeapBytes(sizeof(Block) + elements * width);
  const uint32_t old_width = block_ == nullptr ? width : block_->width;
  const bool fresh = block_ == nullptr;
  block_ = static_cast<Block*>(std::realloc(block_, bytes));
  Check(block_ != nullptr, "memory for an intset");
  if (fresh) *block_ = {};
  block_->width = old_width;
  if (width != old_width) {
    // From the last element to the first, so that none is overwritten before it is read.
    for (size_t rank = block_->size; rank-- > 0;) {
      block_->width = old_width;
      const int64_t value = At(rank);
      block_->width = width;
      Store(rank, value);
    }
    block_->width = width;
  }
  block_->capacity = static_cast<uint32_t>((bytes - sizeof(Block)) / width);
}

}  // namespace tally
