#include "core/bytes/number.h"

#include <bit>
#include <charconv>
#include <cstring>

namespace tally {

namespace {

// A number of this many digits cannot overflow.
constexpr size_t kSafeDigits = 18;

// Reads eight digits at once; returns false if one is no digit. Joins digits to pairs, pairs to
// fours, and fours to the number; each step works on all parts of a word at the same time.
bool ParseEightDigits(const char* text, uint64_t& number) {
  static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");
  uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  // A byte is a digit (low half 0 to 9) if its high half is 3, and still 3 after 6 is added.
  constexpr uint64_t kHighHalves = 0xF0F0F0F0F0F0F0F0;
  constexpr uint64_t kThrees = 0x3030303030303030;
  if ((word & kHighHalves) != kThrees) return false;
  if (((word + 0x0606060606060606) & kHighHalves) != kThrees) return false;
  word = (word & 0x0F0F0F0F0F0F0F0F) * (10 * 0x100 + 1) >> 8;
  word = (word & 0x00FF00FF00FF00FF) * (100 * 0x10000 + 1) >> 16;
  number = (word & 0x0000FFFF0000FFFF) * (10'000 * 0x100000000 + 1) >> 32;
  return true;
}

constexpr uint64_t kEightDigits = 100'000'000;

// Returns the eight digits of a number below kEightDigits, one in each byte, the first in the
// lowest byte. Splits the number into fours of digits, fours into pairs, and pairs into digits;
// each step works on all parts of a word at the same time. To multiply and shift is to divide: by
// 100 below 10,000, and by 10 below 100.
uint64_t SplitEightDigits(uint64_t number) {
  const uint64_t fours = number / 10'000 | number % 10'000 << 32;
  const uint64_t hundreds = (fours * 10'486 >> 20) & 0x0000007F0000007F;
  const uint64_t pairs = hundreds | (fours - 100 * hundreds) << 16;
  const uint64_t tens = (pairs * 103 >> 10) & 0x000F000F000F000F;
  return tens | (pairs - 10 * tens) << 8;
}

char* WriteEightDigits(char* out, uint64_t number) {
  const uint64_t text = SplitEightDigits(number) | 0x3030303030303030;
  std::memcpy(out, &text, sizeof text);
  return out + sizeof text;
}

// Writes a number below kEightDigits without leading zeros, and perhaps other bytes after it, but
// no more than eight in all.
//
// Counts the digits with branches, although SplitEightDigits shows their number too: a processor
// guesses branches, and so can write what comes next before it has split this number.
char* WriteShort(char* out, uint64_t number) {
  size_t digits = 1;
  for (uint64_t power = 10; number >= power; power *= 10) ++digits;
  const size_t zeros = sizeof(uint64_t) - digits;
  const uint64_t text = (SplitEightDigits(number) | 0x3030303030303030) >> (8 * zeros);
  std::memcpy(out, &text, sizeof text);
  return out + digits;
}

// Writes any number without leading zeros, as WriteShort does.
char* WriteUnsigned(char* out, uint64_t number) {
  // The most common numbers are counts of one digit, and need no more than this.
  if (number < 10) {
    *out = static_cast<char>('0' + number);
    return out + 1;
  }
  if (number < kEightDigits) return WriteShort(out, number);
  const uint64_t high = number / kEightDigits;
  if (high < kEightDigits) {
    out = WriteShort(out, high);
  } else {
    out = WriteShort(out, high / kEightDigits);
    out = WriteEightDigits(out, high % kEightDigits);
  }
  return WriteEightDigits(out, number % kEightDigits);
}

}  // namespace

bool ReadInt64(std::string_view text, int64_t& value) {
  // Most numbers are short and not negative.
  if (!text.empty() && text.size() <= kSafeDigits && text[0] >= '1' && text[0] <= '9') {
    int64_t number = 0;
    for (; text.size() >= 8; text.remove_prefix(8)) {
      uint64_t eight = 0;
      if (!ParseEightDigits(text.data(), eight)) return false;
      number = number * 100'000'000 + static_cast<int64_t>(eight);
    }
    for (const char c : text) {
      if (c < '0' || c > '9') return false;
      number = number * 10 + (c - '0');
    }
    value = number;
    return true;
  }
  if (text.empty() || text.size() > kMaxInt64Chars) return false;
  // from_chars takes a '-', but no '+' and no spaces; leading zeros must be refused here.
  const char first_digit = text.front() == '-' && text.size() > 1 ? text[1] : text.front();
  if (text != "0" && (first_digit < '1' || first_digit > '9')) return false;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return false;
  value = number;
  return true;
}

char* WriteInt64(char* out, int64_t value) {
  const auto number = static_cast<uint64_t>(value);
  if (value >= 0) return WriteUnsigned(out, number);
  *out++ = '-';
  return WriteUnsigned(out, ~number + 1);
}

void AppendInt64(std::string& out, int64_t value) { out.append(Int64Text(value).view()); }

}  // namespace tally
