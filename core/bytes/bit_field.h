// Unsigned numbers of 0 to 64 bits, packed without gaps into bytes, the lowest bit first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tally {

static_assert(std::endian::native == std::endian::little, "bit fields are laid out little-endian");

constexpr uint64_t LowBits(unsigned width) {
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}
constexpr size_t BitFieldBytes(size_t count, unsigned width) { return (count * width + 7) / 8; }

// Reads number `index` of the numbers of `width` bits at `bytes`, an array of `size` bytes. O(1).
inline uint64_t ReadBitField(const uint8_t* bytes, size_t size, size_t index, unsigned width) {
  if (width == 0) return 0;
  const size_t bit = index * width;
  const size_t at = bit / 8;
  const unsigned shift = bit % 8;
  uint64_t word = 0;
  if (at + 8 <= size) [[likely]] {
    std::memcpy(&word, bytes + at, 8);
  } else {
    std::memcpy(&word, bytes + at, size - at);
  }
  word >>= shift;
  if (shift + width > 64) word |= static_cast<uint64_t>(bytes[at + 8]) << (64 - shift);
  return word & LowBits(width);
}

// Overwrites number `index` with `value` < 2^width.
inline void WriteBitField(uint8_t* bytes, size_t size, size_t index, unsigned width,
                          uint64_t value) {
  if (width == 0) return;
  const size_t bit = index * width;
  const size_t at = bit / 8;
  const unsigned shift = bit % 8;
  const size_t span = at + 8 <= size ? 8 : size - at;
  uint64_t word = 0;
  std::memcpy(&word, bytes + at, span);
  word = (word & ~(LowBits(width) << shift)) | (value << shift);
  std::memcpy(bytes + at, &word, span);
  if (shift + width > 64) {
    const unsigned done = 64 - shift;
    const auto rest = static_cast<uint8_t>(LowBits(width - done));
    bytes[at + 8] = static_cast<uint8_t>((bytes[at + 8] & ~rest) | (value >> done));
  }
}

}  // namespace tally
