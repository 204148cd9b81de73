// A double-ended vector: one contiguous array with spare room at either end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/bytes/heap_size.h"

namespace tally {

// Push and pop at both ends are amortised O(1), Insert and Erase inside are O(distance to the
// nearer end), and random access is as in an array. The array grows by only a quarter, because it
// indexes the parts of small values; std::deque would take 600 bytes for the first element. T must
// be default-constructible and cheap to move. A deque holds fewer than 2^32 elements.
template <typename T>
class FlatDeque {
 public:
  FlatDeque() = default;
  FlatDeque(const FlatDeque&) = delete;
  FlatDeque& operator=(const FlatDeque&) = delete;

  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  T& operator[](size_t i) { return slots_[first_ + i]; }
  const T& operator[](size_t i) const { return slots_[first_ + i]; }
  T& front() { return slots_[first_]; }
  T& back() { return slots_[first_ + count_ - 1]; }
  const T& front() const { return slots_[first_]; }
  const T& back() const { return slots_[first_ + count_ - 1]; }
  T* begin() { return slots_.get() + first_; }
  T* end() { return begin() + count_; }
  const T* begin() const { return slots_.get() + first_; }
  const T* end() const { return begin() + count_; }

  // Inserts `value` before element `at`; at <= size().
  void Insert(size_t at, T value) {
    const bool at_front = at < count_ - at;
    if (at_front ? first_ == 0 : first_ + count_ == capacity_) MakeRoom(at_front);
    if (at_front) {
      --first_;
      std::move(begin() + 1, begin() + 1 + at, begin());
    } else {
      std::move_backward(begin() + at, end(), end() + 1);
    }
    ++count_;
    (*this)[at] = std::move(value);
  }
  void PushBack(T value) {
    if (first_ + count_ == capacity_) MakeRoom(/*at_front=*/false);
    slots_[first_ + count_++] = std::move(value);
  }
  void PushFront(T value) {
    if (first_ == 0) MakeRoom(/*at_front=*/true);
    slots_[--first_] = std::move(value);
    ++count_;
  }

  // at < size().
  void Erase(size_t at) {
    if (at < count_ / 2) {
      std::move_backward(begin(), begin() + at, begin() + at + 1);
      front() = T();
      ++first_;
    } else {
      std::move(begin() + at + 1, end(), begin() + at);
      back() = T();
    }
    --count_;
    if (count_ * 4 < capacity_) Relocate(count_ + count_ / 4, /*at_front=*/false);
  }

  // Removes the elements for which drop(const T&) returns true. O(size).
  template <typename Drop>
  void EraseIf(Drop&& drop) {
    T* const kept_end = std::remove_if(begin(), end(), drop);
    for (T* gone = kept_end; gone != end(); ++gone) *gone = T();
    count_ = static_cast<uint32_t>(kept_end - begin());
    if (count_ * 4 < capacity_) Relocate(count_ + count_ / 4, /*at_front=*/false);
  }

  // Bytes of the array, without what its elements own.
  size_t HeapUse() const { return HeapBytes(capacity_ * sizeof(T)); }

 private:
  void MakeRoom(bool at_front) {
    // While there is enough free room, the elements are moved without growing the array: the pushes
    // that then use this room pay for the move.
    const size_t free = capacity_ - count_;
    const bool grow = free == 0 || free < count_ / 8;
    Relocate(grow ? count_ + count_ / 4 + 1 : capacity_, at_front);
  }

  // Leaves three quarters of the free room at one end and the rest at the other. If one end got all
  // of it, pushes at alternating ends would move everything each time.
  void Relocate(size_t capacity, bool at_front) {
    const size_t free = capacity - count_;
    const size_t larger = free - free / 4;
    const size_t first = at_front ? larger : free - larger;
    auto slots = capacity == 0 ? nullptr : std::make_unique<T[]>(capacity);
    std::move(begin(), end(), slots.get() + first);
    slots_ = std::move(slots);
    capacity_ = static_cast<uint32_t>(capacity);
    first_ = static_cast<uint32_t>(first);
  }

  std::unique_ptr<T[]> slots_;
  uint32_t capacity_ = 0;
  uint32_t first_ = 0;
  uint32_t count_ = 0;
};

}  // namespace tally
