// A few integers in one small allocation: the form of a short IntRing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::int_run {

// A run is a byte array: number of entries (1 byte), bits per distance (1 byte), the base (8 bytes,
// little-endian: the lowest entry when the run was made), then each entry's distance from the base
// modulo 2^64. Ten unix seconds of one day take 32 bytes. All functions are O(entries), At is O(1).
inline constexpr size_t kMaxEntries = 32;

// 1 <= count <= kMaxEntries. The caller owns the array and frees it with delete[].
uint8_t* New(const int64_t* values, size_t count);
uint8_t* Clone(const uint8_t* run);

inline size_t Size(const uint8_t* run) { return run[0]; }
// i < Size().
int64_t At(const uint8_t* run, size_t i);
// Writes all entries at `out`.
void Read(const uint8_t* run, int64_t* out);
// Appends `value` if the run's number of bits and its allocation suffice; otherwise returns false
// and changes nothing.
[[nodiscard]] bool TryPushBack(uint8_t* run, int64_t value);

// Bytes of the allocation.
size_t HeapUse(const uint8_t* run);

}  // namespace tally::int_run
