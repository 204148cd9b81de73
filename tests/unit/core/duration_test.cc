#include "core/time/duration.h"

#include <catch2/catch.hpp>
#include <string>

namespace tally::duration_test {
namespace {

TEST_CASE("durations are whole units or seconds with a fraction") {
  CHECK(ParseDuration("500ms") == 500);
  CHECK(ParseDuration("5s") == 5'000);
  CHECK(ParseDuration("10m") == 600'000);
  CHECK(ParseDuration("24h") == 86'400'000);
  CHECK(ParseDuration("7d") == 604'800'000);
  CHECK(ParseDuration("300") == 300'000);
  CHECK(ParseDuration("0.25") == 250);
  CHECK(ParseDuration("1.0019") == 1'001);
  CHECK(ParseDuration("0") == 0);
  CHECK(ParseDuration("007s") == 7'000);
}

TEST_CASE("what is no duration is refused") {
  for (const char* text :
       {"",   "s",    "ms", ".5", "5.", "-1",   "+1",   "1e3",   "1.5s", "1 s",
        "5S", "5sec", "5w", " 5", "5 ", "0x10", "1..2", "1.2.3", "nan",  "inf"}) {
    INFO(text);
    CHECK_FALSE(ParseDuration(text));
    int64_t ms = 7;
    CHECK_FALSE(ReadDuration(text, ms));
    CHECK(ms == 7);
  }
  CHECK_FALSE(ParseDuration(std::string_view("5\0", 2)));
}

TEST_CASE("durations end at the range that window arithmetic can bear") {
  CHECK(ParseDuration("253402300799999ms") == kMaxDurationMs);
  CHECK(ParseDuration("253402300799.999") == kMaxDurationMs);
  CHECK_FALSE(ParseDuration("253402300800000ms"));
  CHECK_FALSE(ParseDuration("253402300800"));
  CHECK_FALSE(ParseDuration("9223372036854775807d"));
  CHECK_FALSE(ParseDuration("9223372036854775808"));
  CHECK_FALSE(ParseDuration("99999999999999999999999999999"));
}

TEST_CASE("instants are exact to the millisecond where a double is not") {
  CHECK(ParseInstant("1700000000") == 1'700'000'000'000);
  CHECK(ParseInstant("1700000000.001") == 1'700'000'000'001);
  CHECK(ParseInstant("1700000000.1") == 1'700'000'000'100);
  for (int ms = 0; ms < 1000; ++ms) {
    std::string text = "1795230400." + std::to_string(1000 + ms).substr(1);
    CHECK(ParseInstant(text) == 1'795'230'400'000 + ms);
    // What comes beyond the millisecond does not round it up.
    CHECK(ParseInstant(text + "999") == 1'795'230'400'000 + ms);
  }
}

TEST_CASE("an instant may be whole milliseconds with their unit") {
  CHECK(ParseInstant("1795230400123ms") == 1'795'230'400'123);
  CHECK(ParseInstant("0ms") == 0);
  CHECK(ParseInstant("253402300799999ms") == kMaxInstantMs);
  for (const char* text : {"253402300800000ms", "9223372036854775808ms", "1795230400.123ms", "ms",
                           "-1ms", "1 ms", "1MS", "1m", "5s", "-1", ""}) {
    INFO(text);
    CHECK_FALSE(ParseInstant(text));
  }
  CHECK_FALSE(ParseInstant("1795230400123"));
  CHECK(ParseInstant("253402300799.999") == kMaxInstantMs);
  CHECK_FALSE(ParseInstant("253402300800"));
}

TEST_CASE("a bare number above 1e11 is likely to be milliseconds") {
  CHECK(ParseLikelyMilliseconds("1795230400123") == 1'795'230'400'123);
  CHECK(ParseLikelyMilliseconds("1795230400123.5") == 1'795'230'400'123);
  CHECK(ParseLikelyMilliseconds("100000000001") == 100'000'000'001);
  CHECK(ParseLikelyMilliseconds("100000000000.001") == 100'000'000'000);
  for (const char* text : {"100000000000", "1795230400", "1795230400123ms", "1795230400123.",
                           "1795230400123s", "1795230400123000", "-1795230400123", "x", ""}) {
    INFO(text);
    CHECK_FALSE(ParseLikelyMilliseconds(text));
  }
}

TEST_CASE("a duration is written in the largest unit of which it is a whole number") {
  CHECK(FormatDuration(0) == "0ms");
  CHECK(FormatDuration(1) == "1ms");
  CHECK(FormatDuration(1'500) == "1500ms");
  CHECK(FormatDuration(90'000) == "90s");
  CHECK(FormatDuration(600'000) == "10m");
  CHECK(FormatDuration(3 * 86'400'000) == "3d");
  for (int64_t ms = 1; ms < kMaxDurationMs; ms = ms * 3 + 7) {
    CHECK(ParseDuration(FormatDuration(ms)) == ms);
  }
}

}  // namespace
}  // namespace tally::duration_test
