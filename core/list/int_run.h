// A handful of integers in one small allocation: what a short IntRing is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::int_run {

// A run is a byte array: number of entries (1 byte), bits of a residual (1), the lowest entry (8,
// little-endian), then each entry's distance from the lowest. Ten seconds of one day take 32 bytes.
// All functions are O(entries), At is O(1).
inline constexpr size_t kMaxEntries = 32;

// 1 <= count <= kMaxEntries. The caller owns the array and frees it with delete[].
uint8_t* New(const int64_t* values, size_t count);
uint8_t* Clone(const uint8_t* run);

inline size_t Size(const uint8_t* run) { return run[0]; }
// i < Size().
int64_t At(const uint8_t* run, size_t i);
// Writes all entries at `out`.
void Read(const uint8_t* run, int64_t* out);
// Appends `value` if it fits the bits and the allocation as they are; otherwise false.
[[nodiscard]] bool TryPushBack(uint8_t* run, int64_t value);

// Bytes of the allocation.
size_t HeapUse(const uint8_t* run);

}  // namespace tally::int_run
