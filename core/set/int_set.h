// A set of integers: sorted, in one allocation, each in as many bytes as the widest of them needs.
// Redis calls this an intset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tally {

// Contains is O(log n); Insert and Erase are O(n), by one memmove.
class IntSet {
 public:
  IntSet() = default;
  ~IntSet() { Clear(); }
  IntSet(IntSet&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  IntSet& operator=(IntSet&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  IntSet Clone() const;

  size_t size() const { return block_ == nullptr ? 0 : block_->size; }
  // The element of that rank; the smallest has rank 0. O(1).
  int64_t At(size_t rank) const;

  bool Contains(int64_t value) const;
  // False if it is in the set already. The set may hold at most 2^29 elements (asserted).
  bool Insert(int64_t value);
  // False if it is not in the set.
  bool Erase(int64_t value);
  void Clear();

  size_t MemoryBytes() const;

 private:
  struct Block {
    uint32_t size;
    uint32_t capacity;  // in elements of `width` bytes
    uint32_t width;     // bytes an element: 2, 4 or 8
  };

  const char* data() const { return reinterpret_cast<const char*>(block_ + 1); }
  char* data() { return reinterpret_cast<char*>(block_ + 1); }
  void Store(size_t rank, int64_t value);
  // The rank of the first element that is not below `value`.
  size_t LowerBound(int64_t value) const;
  template <typename Int>
  size_t LowerBoundAs(int64_t value) const;
  // Makes room for this many elements of `width` bytes, which must not be less than the width now.
  void Reserve(size_t elements, uint32_t width);

  Block* block_ = nullptr;
};

}  // namespace tally
