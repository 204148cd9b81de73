// A double-ended queue of integers, made for timestamps: 1.5 to 2.5 bytes an entry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/list/int_block.h"
#include "core/list/int_run.h"
#include "core/list/span_deque.h"

namespace tally {

// Entries may be any int64. Values near a line through their neighbours, such as unix seconds or
// milliseconds of successive events, take the fewest bytes. Up to 32 entries are in one allocation
// (int_run.h). A larger ring has blocks of up to 240 entries (int_block.h) until it has shrunk to
// 16 entries.
//
// Push and pop at the ends are amortised O(1). At is O(1) unless entries were inserted inside; then
// it is O(log n). Other costs are given below. Indexes count from 0 and must be below size().
class IntRing {
 public:
  // An IntRing is one machine word, in which this bit is always 0: an owner may use it for a tag.
  static constexpr uintptr_t kUnusedBit = 2;

  IntRing() = default;
  IntRing(IntRing&& other) noexcept;
  IntRing& operator=(IntRing&& other) noexcept;
  ~IntRing() { Clear(); }
  // O(n).
  IntRing Clone() const;

  size_t size() const;
  bool empty() const { return word_ == 0; }
  int64_t At(size_t i) const;
  int64_t Front() const { return At(0); }
  int64_t Back() const { return At(size() - 1); }

  void PushFront(int64_t value);
  void PushBack(int64_t value);
  // Together they cost less than one by one while the ring is small.
  void PushBack(std::span<const int64_t> values);
  // The ring must not be empty.
  int64_t PopFront();
  int64_t PopBack();
  // count <= size(). O(block + blocks dropped).
  void DropFront(size_t count);
  void DropBack(size_t count);

  // O(block); Insert (before entry i, or at the end for i == size()) and Erase also step over the
  // blocks between i and the nearer end.
  void Set(size_t i, int64_t value);
  void Insert(size_t i, int64_t value);
  void Erase(size_t i);

  // Calls visit(int64_t) for entries [from, to) until it returns false. O(1) per entry.
  template <typename Visit>
  void ForEach(size_t from, size_t to, Visit&& visit) const;

  // The same in reverse order, from entry to - 1 down to entry `from`.
  template <typename Visit>
  void ForEachBackwards(size_t from, size_t to, Visit&& visit) const;

  // Removes the first `most` entries equal to `value`, or the last `most` if `from_back`; returns
  // how many were removed. O(n).
  size_t RemoveEqual(int64_t value, size_t most, bool from_back);
  // If the entries are in blocks, calls take(IntBlock) for each block in order and leaves the ring
  // empty. Otherwise does nothing. O(blocks).
  template <typename Take>
  void GiveBlocks(Take&& take);

  // Returns the index of the first entry >= value, or size() if there is none. The entries must be
  // in ascending order; equal ones are allowed. O(log n).
  size_t LowerBound(int64_t value) const;
  // Bytes on the heap, rounded to size classes.
  size_t MemoryBytes() const;

  void Clear();
  // Frees about `entries` entries (whole blocks) from the back; returns true when none is left. It
  // serves to free millions of entries in slices.
  bool FreeSome(size_t entries);

 private:
  using Blocks = SpanDeque<IntBlock>;
  static constexpr uintptr_t kBlockedBit = 1;

  bool blocked() const { return (word_ & kBlockedBit) != 0; }
  uint8_t* run() const { return reinterpret_cast<uint8_t*>(word_); }
  Blocks& blocks() const { return *reinterpret_cast<Blocks*>(word_ & ~kBlockedBit); }
  // Replaces all entries by the `count` entries of `values`.
  void AssignSmall(const int64_t* values, size_t count);
  // Applies `edit(int64_t* values, size_t count) -> new count` to the entries of a small ring.
  template <typename Edit>
  void EditSmall(Edit&& edit);
  void InsertInBlocks(size_t i, int64_t value);
  // Splits a full block in two.
  void Split(size_t block);
  void MergeAround(size_t block);
  // Appends block `next` to block k if both together fill at most half a block; otherwise returns
  // false. Does not remove or change block `next`.
  bool Join(size_t k, size_t next);
  // Goes back to one small allocation once few entries are left.
  void Settle();

  // The address of a run, or the address of a Blocks object with kBlockedBit set; 0 while empty.
  uintptr_t word_ = 0;
};

template <typename Visit>
void IntRing::ForEach(size_t from, size_t to, Visit&& visit) const {
  if (from >= to) return;
  if (!blocked()) {
    for (size_t i = from; i < to; ++i) {
      if (!visit(int_run::At(run(), i))) return;
    }
    return;
  }
  int64_t values[IntBlock::kMaxEntries];
  auto [k, offset] = blocks().Locate(from);
  for (size_t left = to - from; left > 0; ++k, offset = 0) {
    const size_t count = std::min(left, blocks()[k].size() - offset);
    blocks()[k].Read(offset, offset + count, values);
    for (size_t i = 0; i < count; ++i) {
      if (!visit(values[i])) return;
    }
    left -= count;
  }
}

template <typename Visit>
void IntRing::ForEachBackwards(size_t from, size_t to, Visit&& visit) const {
  if (from >= to) return;
  if (!blocked()) {
    for (size_t i = to; i > from; --i) {
      if (!visit(int_run::At(run(), i - 1))) return;
    }
    return;
  }
  auto [k, last] = blocks().Locate(to - 1);
  size_t end = last + 1;
  for (size_t left = to - from;;) {
    const size_t count = std::min(left, end);
    for (size_t i = end; i > end - count; --i) {
      if (!visit(blocks()[k].At(i - 1))) return;
    }
    left -= count;
    if (left == 0) return;
    end = blocks()[--k].size();
  }
}

template <typename Take>
void IntRing::GiveBlocks(Take&& take) {
  if (!blocked()) return;
  for (size_t k = 0; k < blocks().span_count(); ++k) take(std::move(blocks()[k]));
  Clear();
}

}  // namespace tally
