// Up to 240 consecutive integers of an IntRing, each held as its distance from a straight line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tally {

// Removes number `first` to first + count - 1 of the entries equal to `value`, counted from 0.
// Returns how many of the `size` entries are left; they keep their order.
size_t RemoveEqual(int64_t* values, size_t size, int64_t value, size_t first, size_t count);

// Frame-of-reference coding (Goldstein, Ramakrishnan, Shaft: "Compressing relations and indexes",
// 1998) around a line instead of a constant: value = base + slope * slot + a residual of a fixed
// number of bits. Timestamps grow steadily, so residuals are small; and any entry is read in O(1).
// All arithmetic is modulo 2^64, so any int64 values are coded exactly; irregular ones only need
// more bits.
//
// The limit is 240 because a full block of unix seconds of one day in any order (17 bits each) then
// fills a 512-byte allocation.
class IntBlock {
 public:
  static constexpr size_t kMaxEntries = 240;

  // The sequence number of the first entry; SpanDeque sets it.
  uint64_t start = 0;

  size_t size() const { return count_; }
  // i < size(). O(1).
  int64_t At(size_t i) const;
  // Writes entries [from, to) at `out`.
  void Read(size_t from, size_t to, int64_t* out) const;

  // Replaces all entries; count <= kMaxEntries.
  void Assign(const int64_t* values, size_t count);

  // Amortised O(1). Returns false and changes nothing if there is no room at that end.
  [[nodiscard]] bool PushBack(int64_t value);
  [[nodiscard]] bool PushFront(int64_t value);
  // count <= size(). Amortised O(1) per entry dropped.
  void DropFront(size_t count);
  void DropBack(size_t count);
  // i < size(). O(1) if the value is near the line, else O(block).
  void Set(size_t i, int64_t value);

  size_t CountEqual(int64_t value) const;
  // Removes number `first` to first + count - 1 of the entries equal to `value`, counted from 0.
  void RemoveEqual(int64_t value, size_t first, size_t count);

  // Returns a block with the one entry `first`, to which entries like those of `neighbour` will be
  // pushed at the back (at the front if `at_front`). It has the coding and the capacity of
  // `neighbour`, which has room for a whole block, so it need not be coded again as it grows.
  static IntBlock Like(const IntBlock& neighbour, int64_t first, bool at_front);

  IntBlock Clone() const;
  size_t HeapUse() const;

 private:
  enum class Room : uint8_t { kNone, kFront, kBack };

  // The size of bits_ in bytes, and the number of entries that fit into it.
  size_t capacity() const { return size_t{units_} * kUnit; }
  size_t slots() const;
  int64_t Line(size_t slot) const;
  // Stores `value` at `slot` if its residual fits into width_ bits; otherwise returns false.
  bool Store(size_t slot, int64_t value);
  void Encode(const int64_t* values, size_t count, Room room);
  void Seal();

  // The allocator's size classes above 8 bytes are multiples of 16.
  static constexpr size_t kUnit = 16;

  std::unique_ptr<uint8_t[]> bits_;
  int64_t base_ = 0;
  // Rise of the line per slot, in units of 1/256.
  int32_t slope_ = 0;
  // Unused slots before the first entry.
  uint8_t head_ = 0;
  uint8_t count_ = 0;
  // Bits of a residual.
  uint8_t width_ = 0;
  uint8_t units_ = 0;
};

}  // namespace tally
