#include "core/bytes/number.h"

#include <absl/numeric/int128.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tests/unit/random_seed.h"

namespace tally::number_test {
namespace {

TEST_CASE("Canonical integers parse", "[number]") {
  CHECK(ParseInt64("0") == 0);
  CHECK(ParseInt64("7") == 7);
  CHECK(ParseInt64("-1") == -1);
  CHECK(ParseInt64("1700000000") == 1700000000);
  CHECK(ParseInt64("9223372036854775807") == std::numeric_limits<int64_t>::max());
  CHECK(ParseInt64("-9223372036854775808") == std::numeric_limits<int64_t>::min());
}

TEST_CASE("Any other text is refused, as string2ll does", "[number]") {
  for (const char* text : {"",
                           "-",
                           "+",
                           "+1",
                           "-0",
                           "00",
                           "007",
                           "-01",
                           " 1",
                           "1 ",
                           "1\n",
                           "1.0",
                           "1e3",
                           "0x10",
                           "abc",
                           "1a",
                           "--1",
                           "-a",
                           "9223372036854775808",
                           "-9223372036854775809",
                           "18446744073709551616",
                           "99999999999999999999",
                           "-99999999999999999999",
                           "100000000000000000000"}) {
    INFO('"' << text << '"');
    CHECK_FALSE(ParseInt64(text).has_value());
  }
  CHECK_FALSE(ParseInt64(std::string_view("1\0", 2)).has_value());
}

TEST_CASE("What is no number leaves the value as it was", "[number]") {
  for (const char* text : {"", "-", "1a", "12345678x", "01", "99999999999999999999"}) {
    int64_t value = 7;
    INFO('"' << text << '"');
    CHECK_FALSE(ReadInt64(text, value));
    CHECK(value == 7);
  }
  int64_t value = 7;
  CHECK(ReadInt64("-12", value));
  CHECK(value == -12);
}

TEST_CASE("What is written reads back, in every length", "[number]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 5000; ++round) {
    const auto value = static_cast<int64_t>(random.Next()) >> random.Below(64);
    std::string text = "x";
    AppendInt64(text, value);
    REQUIRE(text.substr(1) == std::to_string(value));
    REQUIRE(Int64Text(value).view() == text.substr(1));
    REQUIRE(ParseInt64(text.substr(1)) == value);
  }
}

// Writes into memory of exactly the room that WriteInt64 asks for, so that a sanitizer sees what
// writes past it.
std::string Written(int64_t value) {
  const std::unique_ptr<char[]> room(new char[kMaxInt64Chars]);
  const char* end = WriteInt64(room.get(), value);
  return {room.get(), static_cast<size_t>(end - room.get())};
}

TEST_CASE("Numbers of every length and every group of digits are written", "[number]") {
  uint64_t power = 1;
  for (int digits = 1; digits <= 19; ++digits, power *= 10) {
    for (const uint64_t near : {power - 1, power, power + 1, 5 * power - 1, 9 * power}) {
      const auto value = static_cast<int64_t>(near);
      REQUIRE(Written(value) == std::to_string(value));
      REQUIRE(Written(-value) == std::to_string(-value));
    }
  }
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  REQUIRE(Written(kLeast) == std::to_string(kLeast));
  REQUIRE(Written(kLeast + 1) == std::to_string(kLeast + 1));
  // Each group of four digits at each place where there can be one.
  for (int64_t four = 0; four < 10'000; ++four) {
    for (const int64_t place :
         {int64_t{1}, int64_t{10'000}, int64_t{100'000'000}, int64_t{1'000'000'000'000}}) {
      REQUIRE(Written(four * place) == std::to_string(four * place));
    }
  }
}

// The same by a text's shape and its value, digit by digit.
std::optional<int64_t> NaiveInt64(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.size() > 19 || (digits[0] == '0' && text != "0"))
    return std::nullopt;
  absl::int128 value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (negative) value = -value;
  if (value != static_cast<int64_t>(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}

TEST_CASE("Any byte at any place of a number is told from a digit", "[number]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (size_t size = 1; size <= 21; ++size) {
    for (size_t place = 0; place < size; ++place) {
      // At the end of its memory, so that a sanitizer sees what reads past it.
      const std::unique_ptr<char[]> bytes(new char[size]);
      for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('0' + random.Below(10));
      const std::string_view text(bytes.get(), size);
      for (int byte = 0; byte < 256; ++byte) {
        bytes[place] = static_cast<char>(byte);
        INFO('"' << text << '"');
        REQUIRE(ParseInt64(text) == NaiveInt64(text));
      }
    }
  }
}

}  // namespace
}  // namespace tally::number_test
