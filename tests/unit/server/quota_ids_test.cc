// What may be the id of a SKU, an action, a user and an order, as clients see it.
#include <string>
#include <vector>

#include "tests/unit/server/command_harness.h"
#include "tests/unit/server/replay.h"
#include "tests/unit/server/usage_text.h"

namespace tally::server::quota_ids_test {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted;
  AppendQuoted(quoted, text);
  return quoted;
}

TEST_CASE(
    "QUOTA: what is written as an int64 is an integer, anything else a text as it was given") {
  std::vector<std::string> texts = {"007",
                                    "-0",
                                    "+1",
                                    "00",
                                    " 7",
                                    "7 ",
                                    "1.0",
                                    "ann",
                                    "9223372036854775808",
                                    "-9223372036854775809",
                                    "\r\n",
                                    "$1\r\nx",
                                    "\xc3\xa4\xff"};
  texts.emplace_back("\0", 1);
  texts.emplace_back("a\0b", 3);
  for (const size_t size : {0, 1, 20, 63, 64, 65, 127, 128}) texts.emplace_back(size, 'x');
  for (const std::string& id : texts) {
    CommandHarness quota;
    const std::string shown = Quoted(id);
    INFO(shown);
    REQUIRE(quota.Run({"QUOTA.SETLIMIT", "b", id, id, "5", "1d", "7", "0", "9", "1d"}) == ":2");
    REQUIRE(quota.Run({"QUOTA.LIMITS", "b", id}) ==
            "[[[" + shown + " :5 :86400000 :1700000000000]]]");
    REQUIRE(quota.Run({"QUOTA.BUY", "b", id, id, "ITEMS", id, id, "2"}) ==
            "[:1 :0 [[[" + shown + " :3]]]]");
    REQUIRE(quota.Run({"QUOTA.BUY", "b", id, id, "ITEMS", id, id, "2", "ONCE"}) ==
            "[:0 :0 [[[" + shown + " :3]]]]");
    REQUIRE(quota.Run({"QUOTA.RETURN", "b", id, id, "ITEMS", id, "1"}) == "[:1]");
    REQUIRE(quota.Run({"QUOTA.LEFT", "b", id, id, "7", "8"}) ==
            "[[[" + shown + " :4]] [[\"0\" :9]] [[\"0\" :-1]]]");
    REQUIRE(quota.Run({"QUOTA.LEFTBYUSER", "b", id, "7"}) ==
            "[[[" + shown + " [[" + shown + " :4]]]] []]");
    REQUIRE(quota.Run({"QUOTA.LEFTBYUSER", "b", id, "ACTIONS", id}) ==
            "[[[" + shown + " [[" + shown + " :4]]]]]");
    REQUIRE(quota.Run({"QUOTA.HISTORY", "b", id}) ==
            "[[" + shown + " " + shown + " " + shown + " :1 :1700000000000 :0]]");
    REQUIRE(quota.Run({"QUOTA.RESET", "b", id, "ACTIONS", id}) == ":1");
    REQUIRE(quota.Run({"QUOTA.LEFT", "b", id, id}) == "[[[" + shown + " :5]]]");
    REQUIRE(quota.Run({"QUOTA.DELLIMIT", "b", id, "ACTIONS", id}) == ":1");
    REQUIRE(quota.Run({"QUOTA.RESET", "b", id}) == ":1");
    REQUIRE(quota.Run({"QUOTA.HISTORY", "b", id}) == "[]");
  }
}

TEST_CASE("QUOTA: integers come first, then texts by their bytes") {
  CommandHarness quota;
  quota.Run("QUOTA.SETLIMIT b z 10 5 1d z b 5 1d z 9 5 1d z 09 5 1d z a 5 1d 7 0 5 1d");
  REQUIRE(quota.Run("QUOTA.LEFT b u z") == R"([[["9" :5] ["10" :5] ["09" :5] ["a" :5] ["b" :5]]])");
  REQUIRE(quota.Run("QUOTA.LIMITS b z ACTIONS b 9 a") ==
          R"([[["9" :5 :86400000 :1700000000000] ["a" :5 :86400000 :1700000000000] )"
          R"(["b" :5 :86400000 :1700000000000]]])");
  quota.Run("QUOTA.SETLIMIT b y 0 5 1d");
  quota.Run("QUOTA.RECORD b u o ITEMS z a 1 y 0 1 7 0 1");
  REQUIRE(quota.Run("QUOTA.LEFTBYUSER b u ACTIONS 0 a") ==
          R"([[["7" [["0" :4]]] ["y" [["0" :4]]] ["z" [["a" :4]]]]])");
}

TEST_CASE("QUOTA: the id that a reply gives is the one that finds the purchase again") {
  for (const std::string id : {"1302345678901234999", "-9223372036854775808", "7"}) {
    CommandHarness quota;
    quota.Run({"QUOTA.SETLIMIT", "b", id, id, "5", "1d"});
    quota.Run({"QUOTA.BUY", "b", id, id, "ITEMS", id, id, "2"});
    CHECK(quota.Run({"QUOTA.HISTORY", "b", id}) ==
          StrCat("[[", Quoted(id), " ", Quoted(id), " ", Quoted(id), " :2 :1700000000000 :0]]"));
    CHECK(quota.Run({"QUOTA.RETURN", "b", id, id, "ITEMS", id, "1"}) == "[:1]");
  }
}

TEST_CASE("QUOTA: action 0 is what is written 0") {
  CommandHarness quota;
  quota.Run("QUOTA.SETLIMIT b 7 0 10 1d 7 00 5 1d");
  REQUIRE(quota.Run("QUOTA.BUY b u 1 ITEMS 7 00 2 7 -0 3") ==
          R"([:1 :0 [[["0" :5] ["00" :3]] [["0" :5] ["00" :3]]]])");
}

TEST_CASE("QUOTA: an id of 129 bytes is an error that names it") {
  CommandHarness quota;
  const std::string id(129, '7');
  using Words = CommandHarness::Words;
  const std::pair<Words, std::string> cases[] = {
      {{"QUOTA.SETLIMIT", "b", id, "0", "1", "1d"}, "sku"},
      {{"QUOTA.SETLIMIT", "b", "1", id, "1", "1d"}, "action"},
      {{"QUOTA.LIMITS", "b", "1", id}, "sku"},
      {{"QUOTA.DELLIMIT", "b", "1", "ACTIONS", id}, "action"},
      {{"QUOTA.BUY", "b", id, "1", "ITEMS", "1", "0", "1"}, "user"},
      {{"QUOTA.BUY", "b", "1", id, "ITEMS", "1", "0", "1"}, "order"},
      {{"QUOTA.RECORD", "b", "1", "1", "ITEMS", id, "0", "1"}, "sku"},
      {{"QUOTA.RECORD", "b", "1", "1", "ITEMS", "1", id, "1"}, "action"},
      {{"QUOTA.RETURN", "b", "1", id, "ITEMS", "1", "1"}, "order"},
      {{"QUOTA.LEFT", "b", id, "1"}, "user"},
      {{"QUOTA.LEFT", "b", "1", "1", id}, "sku"},
      {{"QUOTA.LEFTBYUSER", "b", "1", id}, "user"},
      {{"QUOTA.RESET", "b", id}, "user"},
      {{"QUOTA.HISTORY", "b", id}, "user"}};
  for (const auto& [words, name] : cases) {
    INFO(words[0]);
    REQUIRE(quota.Run(words) == "-ERR " + name + " must be at most 128 bytes");
  }
  REQUIRE(quota.Effects().empty());
  REQUIRE(quota.Run("EXISTS b") == ":0");
}

TEST_CASE("QUOTA: an id that reads like an option is one where no option may be") {
  CommandHarness quota;
  REQUIRE(quota.Run("QUOTA.SETLIMIT b AT ONCE 5 1d actions 0 6 1d") == ":2");
  REQUIRE(quota.Run("QUOTA.BUY b ONCE AT ITEMS AT ONCE 2") == R"([:1 :0 [[["ONCE" :3]]]])");
  REQUIRE(quota.Run("QUOTA.LEFT b ONCE AT") == R"([[["ONCE" :3]]])");
  REQUIRE(quota.Run("QUOTA.LEFT b ONCE actions") == R"([[["0" :6]]])");
  REQUIRE(quota.Run("QUOTA.LEFT b ONCE AT AT 1699999999") == R"([[["ONCE" :3]]])");
  REQUIRE(WithoutUsage(quota.Run("QUOTA.LEFT b ONCE 7 AT")) == "-ERR AT is missing");
  REQUIRE(quota.Run("QUOTA.LIMITS b AT ACTIONS ONCE") ==
          R"([[["ONCE" :5 :86400000 :1700000000000]]])");
  REQUIRE(quota.Run("QUOTA.RETURN b ONCE AT ITEMS AT 1") == "[:1]");
}

TEST_CASE("QUOTA: effects have ids as they were given, also those that a log has a meaning for") {
  CommandHarness quota;
  const std::vector<std::string> lines = {
      "QUOTA.SETLIMIT b 007 -0 5 1d",
      "QUOTA.RECORD b KEEP 5 ITEMS NOW 007 1",
      "QUOTA.RECORD b NOW KEEP ITEMS 007 -0 1",
      "QUOTA.RETURN b NOW KEEP ITEMS 007 1",
      "QUOTA.RESET b KEEP 5",
      "QUOTA.RECORD b u 1 ITEMS x NOW 1",
      "QUOTA.RECORD b u 2 ITEMS x KEEP 6",
      "QUOTA.RESET b NOW 5",
      "QUOTA.DELLIMIT b 007 ACTIONS NOW 7 KEEP 8 -0",
  };
  std::vector<std::string> logged;
  for (const std::string& line : lines) {
    quota.Run(line);
    logged.push_back(line + " NOW 1700000000000");
  }
  const std::vector<std::string> effects = quota.Effects();
  REQUIRE(effects == logged);
  CommandHarness replayed;
  ReplayInto(replayed, effects, 1'700'000'100'000);
  for (const char* ask : {"QUOTA.LIMITS b 007", "QUOTA.HISTORY b KEEP", "QUOTA.HISTORY b NOW",
                          "QUOTA.HISTORY b 5", "QUOTA.HISTORY b u", "QUOTA.LEFT b u 007 x"}) {
    INFO(ask);
    REQUIRE(replayed.Run(ask) == quota.Run(ask));
  }
  REQUIRE(quota.Run("QUOTA.HISTORY b u") ==
          R"([["1" "x" "NOW" :1 :1700000000000 :0] ["2" "x" "KEEP" :6 :1700000000000 :0]])");
}

}  // namespace
}  // namespace tally::server::quota_ids_test
