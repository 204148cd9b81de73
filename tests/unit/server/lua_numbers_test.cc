// tostring and tonumber of scripts against Lua's own, with numbers and texts by chance.
#include "server/script/lua_numbers.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "random_seed.h"
#include "server/command_harness.h"
#include "server/plain_lua.h"

namespace tally::server::lua_numbers_test {
namespace {

// A number as Lua can read it, exactly.
std::string Literal(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.17g", value);
  if (value != value) return "(0/0)";
  if (value - value != 0) return value > 0 ? "(1/0)" : "(-1/0)";
  return text;
}

double SomeNumber(test::SeededRandom& random) {
  const auto whole =
      static_cast<double>(random.Between(-1'000'000'000'000'000, 1'000'000'000'000'000));
  switch (random.Below(4)) {
    case 0:
      return std::bit_cast<double>(random.Next());
    case 1:
      return whole;
    case 2:
      return whole / 1e6;
    default:
      return static_cast<double>(random.Between(-2000, 2000)) / 8;
  }
}

}  // namespace

TEST_CASE("lua numbers: tostring answers as Lua's own does") {
  CommandHarness h;
  const PlainLua plain;
  const auto compare = [&](const std::string& value) {
    const std::string code = "return tostring(" + value + ")";
    INFO(code);
    REQUIRE(Scripted(h, code) == plain.Run(code));
  };
  test::SeededRandom random;
  for (int i = 0; i < 4000; ++i) compare(Literal(SomeNumber(random)));
  for (const char* value : {"0",
                            "-0",
                            "0 * -1",
                            "1e14",
                            "1e14 - 1",
                            "-1e14",
                            "1 - 1e14",
                            "1e15",
                            "99999999999999.5",
                            "0.1",
                            "1e-5",
                            "123456.7890625",
                            "5e-324",
                            "1e308",
                            "(0/0)",
                            "-(0/0)",
                            "(1/0)",
                            "(-1/0)",
                            "'7.0'",
                            "''",
                            "nil",
                            "true",
                            "",
                            "1, 2",
                            "setmetatable({}, {__tostring = function() return 'x' end})"}) {
    compare(value);
  }
}

TEST_CASE("lua numbers: tonumber answers as Lua's own does") {
  CommandHarness h;
  const PlainLua plain;
  const auto compare = [&](const std::string& arguments) {
    const std::string code =
        "local n = tonumber(" + arguments + ") return n and string.format('%.17g', n)";
    INFO(code);
    REQUIRE(Scripted(h, code) == plain.Run(code));
  };
  test::SeededRandom random;
  for (int i = 0; i < 2000; ++i) {
    std::string literal = Literal(SomeNumber(random));
    compare("'" + literal + "'");
    compare(literal);
  }
  const std::vector<std::string> parts = {"1", "0",   "7",  "99", ".", "-", "+", "e",  "E",
                                          "x", "inf", "na", "n",  "p", " ", "a", "\\0"};
  for (int i = 0; i < 4000; ++i) {
    std::string text;
    for (size_t left = random.Below(7); left > 0; --left) text += parts[random.Below(parts.size())];
    compare("'" + text + "'");
    if (random.OneIn(8)) compare("'" + text + "', " + std::to_string(random.Between(2, 36)));
  }
  for (const char* arguments : {"", "nil", "true", "{}", "'10', nil", "'10', 10", "'10', 2",
                                "'zz', 36", "'1e400'", "'-1e400'", "'1e-400'", "'5e-324'",
                                "'2.2250738585072011e-308'", "'0x1p4'", "' 10 '", "'1' .. '\\n'"}) {
    compare(arguments);
  }
}

TEST_CASE("lua numbers: what no integer can hold, as x86-64 converts it") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  CHECK(TruncatedToInt64(-1.9) == -1);
  CHECK(TruncatedToInt64(0x1p63) == INT64_MIN);
  CHECK(TruncatedToInt64(-0x1p63) == INT64_MIN);
  for (const double value : {1e300, -1e300, kInf, -kInf, kNan}) {
    CHECK(TruncatedToInt64(value) == INT64_MIN);
  }
  CHECK(TruncatedToUint64(-1.9) == UINT64_MAX);
  CHECK(TruncatedToUint64(0x1p63) == uint64_t{1} << 63);
  CHECK(TruncatedToUint64(1e19) == 10'000'000'000'000'000'000u);
  CHECK(TruncatedToUint64(0x1p64) == 0);
  CHECK(TruncatedToUint64(1e300) == 0);
  CHECK(TruncatedToUint64(kInf) == 0);
  CHECK(TruncatedToUint64(kNan) == uint64_t{1} << 63);
  CHECK(TruncatedToUint64(-1e300) == uint64_t{1} << 63);
  CHECK(TruncatedToUint64(-kInf) == uint64_t{1} << 63);
}

// Answers of redis-server 7.0.15 on x86-64.
TEST_CASE("lua numbers: struct, cmsgpack and bit take any number") {
  CommandHarness h;
  const auto hex = [&](const std::string& packed) {
    const std::string code = "local s = " + packed +
                             " return (s:gsub('.', function(c) return "
                             "string.format('%02x', c:byte()) end))";
    const std::string shown = Scripted(h, code);
    return shown.substr(shown.find("string:") + 7);
  };
  constexpr const char* kHigh = "0000000000000080";
  constexpr const char* kZero = "0000000000000000";
  const std::vector<std::pair<const char*, const char*>> packed = {
      {"1e300", kZero},          {"1/0", kZero},          {"2^64", kZero},
      {"-1e300", kHigh},         {"-1/0", kHigh},         {"0/0", kHigh},
      {"2^63", kHigh},           {"-2^63 - 2048", kHigh}, {"1e19", "0000e8890423c78a"},
      {"-1", "ffffffffffffffff"}};
  for (const auto& [value, expected] : packed) {
    INFO(value);
    for (const char* letter : {"l", "L", "T", "i8", "I8"}) {
      CHECK(hex(StrCat("struct.pack('", letter, "', ", value, ")")) == expected);
    }
    CHECK(hex(StrCat("struct.pack('i4', ", value, ")")) == std::string(expected).substr(0, 8));
  }
  CHECK(hex("cmsgpack.pack(1e300)") == "cb7e37e43c8800759c");
  CHECK(hex("cmsgpack.pack(2^63)") == "ca5f000000");
  CHECK(hex("cmsgpack.pack(-2^63)") == "d38000000000000000");
  CHECK(hex("cmsgpack.pack(-1/0)") == "caff800000");
  CHECK(Scripted(h, "return bit.tobit(1e300)") == "boolean:true|number:-2013235812");
  CHECK(Scripted(h, "return bit.tobit(0/0)") == "boolean:true|number:0");
  CHECK(Scripted(h, "return bit.lshift(1, 1e300)") == "boolean:true|number:268435456");
}

}  // namespace tally::server::lua_numbers_test
