// Up to 240 consecutive integers of an IntRing, each held as its distance from a straight line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tally {

// Removes the entries that are number `first` to first + count - 1 among those equal to `value`;
// returns how many are left of `size`.
size_t RemoveEqual(int64_t* values, size_t size, int64_t value, size_t first, size_t count);

// Frame-of-reference coding (Goldstein, Ramakrishnan, Shaft: "Compressing relations and indexes",
// 1998) around a line instead of a constant: value = base + slope * slot + a residual of a fixed
// number of bits. Timestamps grow steadily, so residuals are small; and any entry is read in O(1).
// All arithmetic is modulo 2^64, so the coding is exact for every int64, only wider.
//
// 240, because it makes the block of a day's seconds in any order (17 bits) fill a 512-byte
// allocation.
class IntBlock {
 public:
  static constexpr size_t kMaxEntries = 240;

  // The sequence number of the first entry: SpanDeque's.
  uint64_t start = 0;

  size_t size() const { return count_; }
  // i < size(). O(1).
  int64_t At(size_t i) const;
  // Writes entries [from, to) at `out`.
  void Read(size_t from, size_t to, int64_t* out) const;

  // Replaces all entries; count <= kMaxEntries.
  void Assign(const int64_t* values, size_t count);

  // Amortised O(1). False, and nothing changed, if there is no room at that end.
  [[nodiscard]] bool PushBack(int64_t value);
  [[nodiscard]] bool PushFront(int64_t value);
  // count <= size(). Amortised O(1) per entry dropped.
  void DropFront(size_t count);
  void DropBack(size_t count);
  // i < size(). O(1) where the value lies near the line, else O(block).
  void Set(size_t i, int64_t value);

  size_t CountEqual(int64_t value) const;
  // Removes those that are number `first` to first + count - 1 among the entries equal to `value`.
  void RemoveEqual(int64_t value, size_t first, size_t count);

  // A block of the one entry `first`, to be followed (or, at the front, preceded) by others like
  // those of `neighbour`: coded in the same way and with room for a whole block, so that it need
  // not be coded anew as it grows.
  static IntBlock Like(const IntBlock& neighbour, int64_t first, bool at_front);

  IntBlock Clone() const;
  size_t HeapUse() const;

 private:
  enum class Room : uint8_t { kNone, kFront, kBack };

  // Bytes of bits_ and the entries that they have room for.
  size_t capacity() const { return size_t{units_} * kUnit; }
  size_t slots() const;
  int64_t Line(size_t slot) const;
  // Whether the residual of `value` at `slot` fits; stores it if so.
  bool Store(size_t slot, int64_t value);
  void Encode(const int64_t* values, size_t count, Room room);
  void Seal();

  // Size classes above 8 bytes are multiples of 16.
  static constexpr size_t kUnit = 16;

  std::unique_ptr<uint8_t[]> bits_;
  int64_t base_ = 0;
  // In 1/256 per slot.
  int32_t slope_ = 0;
  // Unused slots before the first entry.
  uint8_t head_ = 0;
  uint8_t count_ = 0;
  // Bits of a residual.
  uint8_t width_ = 0;
  uint8_t units_ = 0;
};

}  // namespace tally
