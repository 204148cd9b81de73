// The bytes of a record in a segment: varint(key size), varint(payload size), key, payload. A key
// has fewer than 2^30 bytes, a payload fewer than 2^31.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/bytes/varint.h"

namespace tally::record_layout {

// Reads a length as WriteVarint writes it. Most have one byte.
inline const char* GetLength(const char* in, uint32_t* value) {
  uint32_t byte = static_cast<unsigned char>(*in++);
  if (byte < 0x80) [[likely]] {
    *value = byte;
    return in;
  }
  uint32_t result = byte & 0x7F;
  for (int shift = 7;; shift += 7) {
    byte = static_cast<unsigned char>(*in++);
    result |= (byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  *value = result;
  return in;
}

template <typename Word>
bool SameWord(const char* a, const char* b) {
  Word x;
  Word y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x == y;
}

// Most keys are short: comparing two words, which may overlap, costs less than a call.
inline bool EqualBytes(const char* a, const char* b, size_t size) {
  if (size > 16) return std::memcmp(a, b, size) == 0;
  if (size >= 8) return SameWord<uint64_t>(a, b) && SameWord<uint64_t>(a + size - 8, b + size - 8);
  if (size >= 4) return SameWord<uint32_t>(a, b) && SameWord<uint32_t>(a + size - 4, b + size - 4);
  return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

inline size_t RecordBytes(size_t key_size, size_t payload_size) {
  return VarintBytes(key_size) + VarintBytes(payload_size) + key_size + payload_size;
}

}  // namespace tally::record_layout
