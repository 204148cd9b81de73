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

// Reads any integer: zero, a negative one, one of many digits.
[[gnu::noinline]] bool ReadUncommon(std::string_view text, int64_t& value) {
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
  return ReadUncommon(text, value);
}

char* WriteInt64(char* out, int64_t value) {
  return std::to_chars(out, out + kMaxInt64Chars, value).ptr;
}

void AppendInt64(std::string& out, int64_t value) { out.append(Int64Text(value).view()); }

}  // namespace tally
