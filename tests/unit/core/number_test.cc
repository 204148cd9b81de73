#include "core/bytes/number.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "tests/unit/random_seed.h"

namespace tally {
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

}  // namespace
}  // namespace tally
