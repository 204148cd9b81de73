#include "core/bytes/bit_string.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/base/check.h"
#include "core/bytes/text.h"

namespace tally {
namespace {

constexpr size_t kWord = sizeof(uint64_t);

uint64_t LoadWord(const char* from) {
  uint64_t word = 0;
  std::memcpy(&word, from, kWord);
  return word;
}

void StoreWord(char* to, uint64_t word) { std::memcpy(to, &word, kWord); }

uint8_t ByteAt(std::string_view bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }

// Counts the ones of whole bytes. The baseline machine has no instruction for it, and the library's
// function is slow. So the bytes of up to 31 words are counted side by side before they are added
// up: each has at most 8 ones, and 31 * 8 fits in a byte. Warren: "Hacker's Delight", 5-1.
size_t CountWhole(const char* from, size_t size) {
  constexpr size_t kSideBySide = 31;
  constexpr uint64_t kPairs = 0x5555555555555555;
  constexpr uint64_t kNibbles = 0x3333333333333333;
  constexpr uint64_t kBytes = 0x0F0F0F0F0F0F0F0F;
  constexpr uint64_t kEvenBytes = 0x00FF00FF00FF00FF;
  constexpr uint64_t kSum = 0x0001000100010001;
  size_t ones = 0;
  while (size >= kWord) {
    const size_t words = std::min(size / kWord, kSideBySide);
    uint64_t by_byte = 0;
    for (size_t i = 0; i < words; ++i) {
      uint64_t word = LoadWord(from + i * kWord);
      word -= (word >> 1) & kPairs;
      word = (word & kNibbles) + ((word >> 2) & kNibbles);
      by_byte += (word + (word >> 4)) & kBytes;
    }
    const uint64_t by_pair = (by_byte & kEvenBytes) + ((by_byte >> 8) & kEvenBytes);
    ones += (by_pair * kSum) >> 48;
    from += words * kWord;
    size -= words * kWord;
  }
  for (size_t i = 0; i < size; ++i) {
    ones += static_cast<size_t>(std::popcount(static_cast<uint8_t>(from[i])));
  }
  return ones;
}

// A mask of the bits of a byte from bit `from` on, where bit 0 is the most significant one.
constexpr uint8_t MaskFrom(size_t from) { return static_cast<uint8_t>(0xFF >> from); }

// Applies combine(uint64_t, uint64_t) to the common part of both, in words and then in bytes.
template <typename Combine>
void Zip(Text& bytes, std::string_view other, Combine&& combine) {
  const size_t size = std::min(bytes.size(), other.size());
  size_t i = 0;
  for (; i + kWord <= size; i += kWord) {
    StoreWord(bytes.data() + i, combine(LoadWord(bytes.data() + i), LoadWord(other.data() + i)));
  }
  for (; i < size; ++i) {
    bytes[i] = static_cast<char>(combine(ByteAt(bytes, i), ByteAt(other, i)));
  }
}

}  // namespace

void SetBitAt(Text& bytes, size_t i, bool value) {
  const auto mask = static_cast<uint8_t>(0x80 >> (i % 8));
  const uint8_t byte = ByteAt(bytes, i / 8);
  bytes[i / 8] = static_cast<char>(value ? byte | mask : byte & ~mask);
}

uint64_t BitsAt(std::string_view bytes, size_t from, unsigned width) {
  Check(width >= 1 && width <= 64, "a number of 1 to 64 bits");
  uint64_t value = 0;
  for (size_t i = from; i < from + width; ++i) {
    value = value << 1 | static_cast<uint64_t>(i / 8 < bytes.size() && BitAt(bytes, i));
  }
  return value;
}

void SetBitsAt(Text& bytes, size_t from, unsigned width, uint64_t value) {
  Check(width >= 1 && width <= 64 && from + width <= 8 * bytes.size(), "inside the string");
  for (unsigned i = 0; i < width; ++i)
    SetBitAt(bytes, from + i, ((value >> (width - 1 - i)) & 1) != 0);
}

size_t CountOnes(std::string_view bytes, size_t from, size_t to) {
  Check(from <= to && to <= 8 * bytes.size(), "bits lie inside their string");
  if (from == to) return 0;
  const size_t first = from / 8;
  const size_t last = (to - 1) / 8;
  size_t ones = CountWhole(bytes.data() + first, last - first + 1);
  // Subtracts the ones that the first and the last byte have outside the range.
  const auto before = static_cast<uint8_t>(ByteAt(bytes, first) & ~MaskFrom(from % 8));
  const size_t kept = (to - 1) % 8 + 1;
  const auto after = static_cast<uint8_t>(ByteAt(bytes, last) & (0xFF >> kept));
  ones -= static_cast<size_t>(std::popcount(before) + std::popcount(after));
  return ones;
}

std::optional<size_t> FindBit(std::string_view bytes, bool value, size_t from, size_t to) {
  Check(from <= to && to <= 8 * bytes.size(), "bits lie inside their string");
  if (from == to) return std::nullopt;
  const uint8_t flip = value ? 0 : 0xFF;
  const uint64_t nothing = value ? 0 : ~uint64_t{0};
  const size_t end = (to + 7) / 8;
  size_t i = from / 8;
  auto byte = static_cast<uint8_t>((ByteAt(bytes, i) ^ flip) & MaskFrom(from % 8));
  while (byte == 0) {
    ++i;
    while (i + kWord <= end && LoadWord(bytes.data() + i) == nothing) i += kWord;
    if (i >= end) return std::nullopt;
    byte = ByteAt(bytes, i) ^ flip;
  }
  const size_t found = 8 * i + static_cast<size_t>(std::countl_zero(byte));
  return found < to ? std::optional(found) : std::nullopt;
}

void AndBits(Text& bytes, std::string_view other) {
  Zip(bytes, other, [](auto a, auto b) { return a & b; });
  if (other.size() < bytes.size()) {
    std::fill(bytes.data() + other.size(), bytes.data() + bytes.size(), '\0');
  } else {
    bytes.Resize(other.size());
  }
}

void OrBits(Text& bytes, std::string_view other) {
  bytes.Resize(std::max(bytes.size(), other.size()));
  Zip(bytes, other, [](auto a, auto b) { return a | b; });
}

void XorBits(Text& bytes, std::string_view other) {
  bytes.Resize(std::max(bytes.size(), other.size()));
  Zip(bytes, other, [](auto a, auto b) { return a ^ b; });
}

void InvertBits(Text& bytes) {
  Zip(bytes, bytes, [](auto a, auto) { return ~a; });
}

}  // namespace tally
