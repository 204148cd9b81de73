// tostring and tonumber of scripts against Lua's own, with numbers and texts by chance.
#include <bit>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "random_seed.h"
#include "server/command_harness.h"
#include "server/plain_lua.h"

namespace tally::server {
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

}  // namespace tally::server
