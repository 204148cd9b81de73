// A byte string read as a row of bits: bit 0 is the most significant bit of byte 0, as in Redis's
// bitmaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tally {

class Text;

// i < 8 * bytes.size().
inline bool BitAt(std::string_view bytes, size_t i) {
  return ((static_cast<unsigned char>(bytes[i / 8]) >> (7 - i % 8)) & 1) != 0;
}
void SetBitAt(Text& bytes, size_t i, bool value);

// The number of `width` bits (1 to 64) that begins at bit `from`, most significant bit first. Bits
// after the end of the string are zeros.
uint64_t BitsAt(std::string_view bytes, size_t from, unsigned width);
// Stores the low `width` bits of `value` there. All of them must lie inside the string (asserted).
void SetBitsAt(Text& bytes, size_t from, unsigned width, uint64_t value);

// Counts the ones in [from, to), which must lie inside the string (asserted). O(bytes), by words.
size_t CountOnes(std::string_view bytes, size_t from, size_t to);

// The first bit in [from, to) that is `value`; nullopt if there is none. O(bytes). The range must
// lie inside the string (asserted).
std::optional<size_t> FindBit(std::string_view bytes, bool value, size_t from, size_t to);

// Each combines `other` into `bytes`, which gets the length of the longer one. The shorter one
// counts as followed by zeros. O(bytes).
void AndBits(Text& bytes, std::string_view other);
void OrBits(Text& bytes, std::string_view other);
void XorBits(Text& bytes, std::string_view other);
void InvertBits(Text& bytes);

}  // namespace tally
