#include "core/bytes/double_format.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "random_seed.h"

namespace tally::double_format_test {
namespace {

std::string Text(double value) {
  std::string out;
  AppendDouble(out, value);
  return out;
}

std::string Printf(double value) {
  char text[64];
  const int length = std::snprintf(text, sizeof(text), "%.17g", value);
  return std::string(text, static_cast<size_t>(length));
}

std::string Human(long double value) {
  std::string out;
  AppendHumanLongDouble(out, value);
  return out;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

// The expected texts are redis-server 7.0.15's answers to ZSCORE.
TEST_CASE("double_format: scores") {
  CHECK(Text(0.1) == "0.10000000000000001");
  CHECK(Text(1e300) == "1.0000000000000001e+300");
  CHECK(Text(3) == "3");
  CHECK(Text(-3) == "-3");
  CHECK(Text(1.5) == "1.5");
  CHECK(Text(1e16) == "10000000000000000");
  CHECK(Text(1e17) == "1e+17");
  CHECK(Text(12345678901234567.0) == "12345678901234568");
  CHECK(Text(9223372036854775807.0) == "9.2233720368547758e+18");
  CHECK(Text(0.0) == "0");
  CHECK(Text(-0.0) == "-0");
  CHECK(Text(0.0001) == "0.0001");
  CHECK(Text(0.00001) == "1.0000000000000001e-05");
  CHECK(Text(5e-324) == "4.9406564584124654e-324");
  CHECK(Text(kInfinity) == "inf");
  CHECK(Text(-kInfinity) == "-inf");
}

TEST_CASE("double_format: any double is printed as by printf and read back") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int i = 0; i < 100000; ++i) {
    double value = std::bit_cast<double>(random.Next());
    if (i % 3 == 1) value = static_cast<double>(random.Between(-200, 200)) / 10;
    if (i % 3 == 2) value = std::ldexp(static_cast<double>(random.Next()), -(i % 64));
    if (std::isnan(value)) continue;
    const std::string text = Text(value);
    REQUIRE(text == Printf(value));
    REQUIRE(ParseDouble(text) == value);
  }
}

TEST_CASE("double_format: numbers that Redis takes as a score") {
  CHECK(ParseDouble("5") == 5.0);
  CHECK(ParseDouble("+5") == 5.0);
  CHECK(ParseDouble("-1e5") == -100000.0);
  CHECK(ParseDouble("1.") == 1.0);
  CHECK(ParseDouble(".5") == 0.5);
  CHECK(ParseDouble("0x10") == 16.0);
  CHECK(ParseDouble("+0x1") == 1.0);
  CHECK(ParseDouble("0x1p-3") == 0.125);
  CHECK(ParseDouble("4e-324") == 5e-324);
  CHECK(ParseDouble("2.2250738585072011e-308") == 2.2250738585072011e-308);
  CHECK(ParseDouble("0e999") == 0.0);
  CHECK(ParseDouble("9007199254740993") == 9007199254740992.0);
  for (const char* text : {"inf", "+inf", "INF", "infinity", "Infinity", "+INFINITY"}) {
    INFO(text);
    CHECK(ParseDouble(text) == kInfinity);
  }
  CHECK(ParseDouble("-inf") == -kInfinity);
  CHECK(ParseDouble("-Infinity") == -kInfinity);
  const std::optional<double> zero = ParseDouble("-0");
  REQUIRE(zero.has_value());
  CHECK(std::signbit(*zero));
}

TEST_CASE("double_format: numbers that Redis refuses as a score") {
  for (const char* text :
       {"",      " ",      " 1",      "1 ",      "\t1",       "1\n", "nan", "-nan",
        "NaN",   "nan(1)", "infinit", "inf ",    ".",         "e5",  "1e",  "1e+",
        "+",     "-",      "--1",     "+-1",     "-+1",       "0x",  "1_0", "1,5",
        "1e400", "-1e400", "1e-400",  "-1e-400", "0x1p99999", "abc", "1a"}) {
    INFO('"' << text << '"');
    CHECK_FALSE(ParseDouble(text).has_value());
  }
  CHECK_FALSE(ParseDouble(std::string_view("1\0", 2)).has_value());
  CHECK_FALSE(ParseDouble(std::string_view("\0", 1)).has_value());
}

// The expected texts are redis-server 7.0.15's answers to INCRBYFLOAT.
TEST_CASE("double_format: human long doubles") {
  CHECK(Human(0.1L) == "0.1");
  CHECK(Human(0.1L + 0.2L) == "0.3");
  CHECK(Human(10.50L + 0.1L) == "10.6");
  CHECK(Human(5200) == "5200");
  CHECK(Human(100) == "100");
  CHECK(Human(0) == "0");
  CHECK(Human(-0.0L) == "0");
  CHECK(Human(-1.5L) == "-1.5");
  CHECK(Human(1e18L + 0.5L) == "1000000000000000000.5");
  CHECK(Human(1 + 1e-17L) == "1.00000000000000001");
  CHECK(Human(1 + 1e-18L) == "1");
  CHECK(Human(-1e-18L) == "0");
  CHECK(Human(-6e-18L) == "-0.00000000000000001");
  CHECK(Human(std::numeric_limits<long double>::infinity()) == "inf");
  CHECK(Human(-std::numeric_limits<long double>::infinity()) == "-inf");
  CHECK(Human(std::numeric_limits<long double>::lowest()).size() == 4934);
}

TEST_CASE("double_format: long doubles as arguments") {
  CHECK(ParseLongDouble("0.1") == 0.1L);
  CHECK(ParseLongDouble("+1") == 1.0L);
  CHECK(ParseLongDouble("5.0e3") == 5000.0L);
  CHECK(ParseLongDouble("0x10") == 16.0L);
  CHECK(ParseLongDouble("1e4000") == 1e4000L);
  CHECK(ParseLongDouble("inf") == std::numeric_limits<long double>::infinity());
  CHECK(ParseLongDouble(std::string(5119, '0')) == 0.0L);
  for (const char* text : {"", " 1", "1 ", "nan", "1e5000", "1e-5000", "x", "1x"}) {
    INFO('"' << text << '"');
    CHECK_FALSE(ParseLongDouble(text).has_value());
  }
  CHECK_FALSE(ParseLongDouble(std::string(5120, '0')).has_value());
  CHECK_FALSE(ParseLongDouble(std::string_view("1\0", 2)).has_value());
}

}  // namespace tally::double_format_test
