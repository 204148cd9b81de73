// QUOTA, sentence by sentence, as clients see it. What a book holds and when is model-checked in
// core/quota_model_test.cc.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "server/command/command_context.h"
#include "tests/unit/server/command_harness.h"
#include "tests/unit/server/usage_text.h"

namespace tally::server::quota_commands_test {
namespace {

constexpr int64_t kDay = int64_t{24} * 3600 * 1000;

class QuotaHarness : public CommandHarness {
 public:
  using CommandHarness::CommandHarness;
  // Replies without the marks of integers and texts; quota_ids_test.cc looks at those.
  std::string Ask(const std::string& line) {
    std::string reply = Run(line.c_str());
    std::erase_if(reply, [](char c) { return c == ':' || c == '"'; });
    return reply;
  }
  void Sweep() {
    engine.SweepSome(now(), [] { return true; });
  }
};

// An instant as an argument of AT.
std::string Seconds(int64_t unix_ms) {
  std::string digits = std::to_string(1000 + unix_ms % 1000);
  return StrCat(unix_ms / 1000, ".", digits.substr(1));
}

TEST_CASE("QUOTA: the example of the specification") {
  QuotaHarness quota;
  REQUIRE(quota.Ask("QUOTA.SETLIMIT b 7 0 30 30d 7 1 20 30d") == "2");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 100 ITEMS 7 0 5 7 1 10") ==
          "[1 0 [[[0 15] [1 10]] [[0 15] [1 10]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 101 ITEMS 7 2 15") == "[1 0 [[[0 0] [1 10]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 102 ITEMS 7 2 1") == "[0 1 [[[0 0] [1 10]]]]");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 0] [1 10]]]");
}

TEST_CASE("QUOTA: -1 means that there is no limit, and nothing else") {
  QuotaHarness quota;
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7 8") == "[[[0 -1]] [[0 -1]]]");
  quota.Ask("QUOTA.SETLIMIT b 7 0 2 1d");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7 8") == "[[[0 2]] [[0 -1]]]");
  REQUIRE(quota.Ask("QUOTA.RECORD b 1 1 ITEMS 7 0 3") == "[1 0 [[[0 0]]]]");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7 8") == "[[[0 0]] [[0 -1]]]");
  quota.Ask("QUOTA.SETLIMIT b 9 5 4 1d");  // a limit of an action only: no total is told
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 9") == "[[[5 4]]]");
}

TEST_CASE("QUOTA.SETLIMIT and QUOTA.LIMITS") {
  QuotaHarness quota;
  REQUIRE(quota.Ask("QUOTA.SETLIMIT b 7 0 30 30d 7 1 20 1.5 8 0 0 500ms") == "3");
  REQUIRE(
      quota.Ask("QUOTA.LIMITS b 8 7 9") ==
      "[[[0 0 500 1700000000000]] [[0 30 2592000000 1700000000000] [1 20 1500 1700000000000]] []]");
  REQUIRE(quota.Ask("QUOTA.LIMITS b 7 8 ACTIONS 1 5") == "[[[1 20 1500 1700000000000]] []]");
  REQUIRE(quota.Ask("QUOTA.LIMITS nobook 7") == "[[]]");
  quota.Advance(1000);
  REQUIRE(quota.Ask("QUOTA.SETLIMIT b 7 1 5 1d") == "1");
  REQUIRE(quota.Ask("quota.limits b 7 actions 1") == "[[[1 5 86400000 1700000001000]]]");
  REQUIRE(quota.Ask("TYPE b") == "+quota");
}

TEST_CASE("QUOTA: a purchase counts for a limit iff now < ts + the limit's current window") {
  QuotaHarness quota;
  quota.Ask("QUOTA.BUY b 1 1 ITEMS 7 3 4");
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 10s 7 3 10 20s");  // bought before, and still counted
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 6] [3 6]]]");
  quota.Advance(9'999);
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 6] [3 6]]]");
  quota.Advance(1);
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 10] [3 6]]]");
  // AT after now is now.
  const std::string later = StrCat("QUOTA.LEFT b 1 7 AT ", Seconds(quota.now() + 10'000));
  REQUIRE(quota.Ask(later) == "[[[0 10] [3 6]]]");
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1m");  // the window of the present, not that of the purchase
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 6] [3 6]]]");
}

TEST_CASE("QUOTA.DELLIMIT: purchases made until then never count again") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1d 7 1 10 1d 8 0 10 1d");
  quota.Ask("QUOTA.BUY b 1 1 ITEMS 7 1 4 8 0 2");
  REQUIRE(quota.Ask("QUOTA.DELLIMIT b 7 9 ACTIONS 1 2") == "1");
  REQUIRE(quota.Ask("QUOTA.DELLIMIT b 7 ACTIONS 1") == "0");
  REQUIRE(quota.Ask("QUOTA.DELLIMIT nobook 7") == "0");
  quota.Ask("QUOTA.SETLIMIT b 7 1 10 1d");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 6] [1 10]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 2 ITEMS 7 1 1") == "[1 0 [[[0 5] [1 9]]]]");
  REQUIRE(quota.Ask("QUOTA.DELLIMIT b 7 8") == "3");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7 8") == "[[[0 -1]] [[0 -1]]]");
}

TEST_CASE("QUOTA.BUY: all lines or none, and which does not fit") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 3 1d 8 0 2 1d 8 5 1 1d");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 1 ITEMS 7 0 3 8 5 2") == "[0 2 [[[0 3]] [[0 2] [5 1]]]]");
  REQUIRE(quota.Ask("QUOTA.HISTORY b 1") == "[]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 2 ITEMS 7 0 2 7 9 2") == "[0 2 [[[0 3]] [[0 3]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 3 ITEMS 7 0 2 7 9 1 8 6 2") ==
          "[1 0 [[[0 0]] [[0 0]] [[0 0] [5 1]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 4 ITEMS 7 0 1") == "[0 1 [[[0 0]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 5 ITEMS 99 0 1000") == "[1 0 [[[0 -1]]]]");
  quota.Ask("QUOTA.SETLIMIT b 6 0 0 1d");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 7 ITEMS 6 0 1") == "[0 1 [[[0 0]]]]");
}

TEST_CASE("QUOTA.RECORD: every line, whatever the limits say, configured or not") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 3 1d 7 5 1 1d");
  REQUIRE(quota.Ask("QUOTA.RECORD b 1 1 ITEMS 7 5 2 7 5 9 8 0 4 7 6 1") ==
          "[1 0 [[[0 0] [5 0]] [[0 0] [5 0]] [[0 -1]] [[0 0] [5 0]]]]");
  REQUIRE(quota.Ask("QUOTA.HISTORY b 1") ==
          "[[1 7 5 2 1700000000000 0] [1 7 5 9 1700000000000 0] [1 8 0 4 1700000000000 0] "
          "[1 7 6 1 1700000000000 0]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 2 ITEMS 7 0 1") == "[0 1 [[[0 0] [5 0]]]]");
  REQUIRE(quota.Ask("QUOTA.RECORD b 1 1 ITEMS 7 0 1 ONCE") == "[0 0 [[[0 0] [5 0]]]]");
  REQUIRE(quota.Ask("QUOTA.RECORD b 1 3 ITEMS 7 0 1 AT 1699999999 ONCE") ==
          "[1 0 [[[0 0] [5 0]]]]");
}

TEST_CASE("QUOTA: an order is logged as the decision that was made") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 3 1d");
  quota.Effects();
  quota.Ask("QUOTA.BUY b 1 1 ITEMS 7 0 2 AT 1699999999 ONCE");
  quota.Ask("QUOTA.RECORD b 1 2 ITEMS 7 0 2");
  quota.Ask("QUOTA.BUY b 1 3 ITEMS 7 0 1");
  REQUIRE(quota.Effects() ==
          std::vector<std::string>{
              "QUOTA.RECORD b 1 1 ITEMS 7 0 2 AT 1699999999 ONCE NOW 1700000000000",
              "QUOTA.RECORD b 1 2 ITEMS 7 0 2 NOW 1700000000000"});
  // Refused, but the book has got another retention.
  quota.config.quota_retention_ms = 60 * kDay;
  REQUIRE(quota.Ask("QUOTA.BUY b 1 3 ITEMS 7 0 1") == "[0 1 [[[0 0]]]]");
  REQUIRE(quota.Effects() == std::vector<std::string>{
                                 "QUOTA.BUY b 1 3 ITEMS 7 0 1 NOW 1700000000000 KEEP 5184000000"});
}

TEST_CASE("QUOTA.BUY: sixty-four orders for the last three") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 3 1d");
  int sold = 0;
  for (int order = 0; order < 64; ++order) {
    Client* client = quota.Connect();
    sold += quota.Run(*client, StrCat("QUOTA.BUY b 1 ", order, " ITEMS 7 0 1").c_str())
                    .starts_with("[:1")
                ? 1
                : 0;
  }
  REQUIRE(sold == 3);
}

TEST_CASE("QUOTA.BUY ONCE: a retried delivery is not applied again") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1d");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 55 ITEMS 7 0 4 ONCE") == "[1 0 [[[0 6]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 55 ITEMS 7 0 4 ONCE") == "[0 0 [[[0 6]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 2 55 ITEMS 7 0 4 ONCE") == "[1 0 [[[0 6]]]]");  // another user's
  REQUIRE(quota.Ask("QUOTA.BUY b 1 55 ITEMS 7 0 4") == "[1 0 [[[0 2]]]]");
  quota.Effects();
  quota.Ask("QUOTA.BUY b 1 55 ITEMS 7 0 1 ONCE");
  REQUIRE(quota.Effects().empty());
}

TEST_CASE("QUOTA.BUY AT: late orders stand in their own place, too late ones are dropped") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1d");
  const int64_t now = quota.now();
  const auto buy_at = [&](int order, int64_t at) {
    return quota.Ask(StrCat("QUOTA.BUY b 1 ", order, " ITEMS 7 0 1 AT ", Seconds(at)));
  };
  REQUIRE(buy_at(1, now - kDay + 1) == "[1 0 [[[0 9]]]]");
  REQUIRE(buy_at(2, now - kDay) == "[1 0 [[[0 9]]]]");       // outside of the window
  REQUIRE(buy_at(3, now - 30 * kDay) == "[1 0 [[[0 9]]]]");  // outside of the retention
  REQUIRE(buy_at(4, now + 5 * kDay) == "[1 0 [[[0 8]]]]");   // of now
  REQUIRE(quota.Ask("QUOTA.HISTORY b 1") == StrCat("[[1 7 0 1 ", now - kDay + 1, " 0] [2 7 0 1 ",
                                                   now - kDay, " 0] [4 7 0 1 ", now, " 0]]"));
  REQUIRE(quota.Ask("QUOTA.BUY late 1 1 ITEMS 7 0 1 AT 1000") == "[1 0 [[[0 -1]]]]");
  REQUIRE(quota.Ask("EXISTS late") == "0");
}

TEST_CASE("QUOTA.RETURN: from the order's lines of the SKU, in the order of recording") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1d 7 1 10 1d");
  quota.Ask("QUOTA.BUY b 1 50 ITEMS 7 1 2 7 0 3 8 0 1");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 5] [1 8]]]");
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 50 ITEMS 7 1") == "[1]");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 6] [1 9]]]");  // the action's and the zero total
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 50 ITEMS 7 3 8 5 9 1") == "[3 1 0]");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 9] [1 10]]]");
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 50 ITEMS 7 9") == "[1]");
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 50 ITEMS 7 9") == "[0]");
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 51 ITEMS 7 1") == "[0]");
  REQUIRE(quota.Ask("QUOTA.RETURN b 2 50 ITEMS 7 1") == "[0]");
  REQUIRE(quota.Ask("QUOTA.RETURN nobook 1 50 ITEMS 7 1") == "[0]");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 10] [1 10]]]");
}

TEST_CASE("QUOTA.RETURN ONCE: the same order, SKU and instant is not applied twice") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1d");
  quota.Ask("QUOTA.BUY b 1 50 ITEMS 7 0 5");
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 50 ITEMS 7 1 AT 1700000000.5 ONCE") == "[1]");
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 50 ITEMS 7 1 ONCE AT 1700000000.5") == "[0]");
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 50 ITEMS 7 1 ONCE AT 1700000000.501") == "[1]");
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 50 ITEMS 7 1 AT 1700000000.5") == "[1]");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 8]]]");
}

TEST_CASE("QUOTA.LEFTBYUSER: by user, by bought SKU with limits") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1d 7 1 5 1d 8 2 4 1d");
  quota.Ask("QUOTA.BUY b 1 1 ITEMS 8 0 1 7 1 2 9 0 1");
  REQUIRE(quota.Ask("QUOTA.LEFTBYUSER b 1 2") == "[[[7 [[0 8] [1 3]]] [8 [[2 4]]]] []]");
  REQUIRE(quota.Ask("QUOTA.LEFTBYUSER b 1 ACTIONS 0 1") == "[[[7 [[0 8] [1 3]]]]]");
  REQUIRE(quota.Ask("QUOTA.LEFTBYUSER nobook 1 2") == "[[] []]");
}

TEST_CASE("QUOTA.RESET: the user, or the counters of some actions") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 20 1d 7 7 10 1d");
  quota.Ask("QUOTA.BUY b 1 1 ITEMS 7 7 4");
  quota.Ask("QUOTA.BUY b 2 2 ITEMS 7 7 4");
  REQUIRE(quota.Ask("QUOTA.RESET b 1 3 ACTIONS 7") == "1");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 16] [7 10]]]");  // 7 leaves the zero total
  REQUIRE(quota.Ask("QUOTA.RESET b 2 ACTIONS 0") == "1");
  REQUIRE(quota.Ask("QUOTA.LEFT b 2 7") == "[[[0 20] [7 6]]]");
  REQUIRE(quota.Ask("QUOTA.RESET b 1 2 3") == "2");
  REQUIRE(quota.Ask("QUOTA.LEFT b 2 7") == "[[[0 20] [7 10]]]");
  REQUIRE(quota.Ask("QUOTA.HISTORY b 2") == "[]");
  REQUIRE(quota.Ask("QUOTA.RESET nobook 1") == "0");
}

TEST_CASE("QUOTA.BUY HOLD: counts until it is over, unless it is confirmed") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1d");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 o ITEMS 7 0 4 HOLD 10m") == "[1 0 [[[0 6]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 p ITEMS 7 0 3 ONCE HOLD 10m AT 1699999999") ==
          "[1 0 [[[0 3]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 p ITEMS 7 0 3 HOLD 10m ONCE") == "[0 0 [[[0 3]]]]");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 q ITEMS 7 0 4 HOLD 10m") == "[0 1 [[[0 3]]]]");
  REQUIRE(quota.Ask("QUOTA.HISTORY b 1") ==
          "[[o 7 0 4 1700000000000 1700000600000] [p 7 0 3 1699999999000 1700000600000]]");
  REQUIRE(quota.Ask("QUOTA.SHOW b 1 7") == "[[[0 10 86400000 7 3 1700000600000]]]");
  quota.Advance(599'999);
  REQUIRE(quota.Ask("QUOTA.CONFIRM b 1 o") == "1");
  REQUIRE(quota.Ask("QUOTA.CONFIRM b 1 o") == "1");
  quota.Advance(1);
  REQUIRE(quota.Ask("QUOTA.CONFIRM b 1 o") == "1");
  REQUIRE(quota.Ask("QUOTA.CONFIRM b 1 p") == "0");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 6]]]");
  REQUIRE(quota.Ask("QUOTA.HISTORY b 1") == "[[o 7 0 4 1700000000000 0]]");
  REQUIRE(quota.Ask("QUOTA.CONFIRM b 1 q") == "0");
  REQUIRE(quota.Ask("QUOTA.CONFIRM nobook 1 o") == "0");
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 o ITEMS 7 4") == "[4]");
  REQUIRE(quota.Ask("QUOTA.CONFIRM b 1 o") == "0");
}

TEST_CASE("QUOTA.BUY HOLD: what it may be, and a sku of that name") {
  QuotaHarness quota;
  for (const char* wrong : {"0", "-1", "367d", "x", "10m HOLD 10m", "10m x"}) {
    CHECK(quota.Ask(StrCat("QUOTA.BUY b 1 o ITEMS 7 0 4 HOLD ", wrong)).starts_with("-ERR "));
  }
  CHECK(quota.Ask("QUOTA.BUY b 1 o ITEMS 7 0 4 HOLD").starts_with("-ERR "));
  CHECK(quota.Ask("QUOTA.BUY b 1 o ITEMS 7 0 4 HOLD 367d") == "-ERR HOLD must be at most 366d");
  CHECK(quota.Ask("EXISTS b") == "0");
  REQUIRE(quota.Ask("QUOTA.BUY b 1 o ITEMS HOLD 0 4 hold 1 5 HOLD 366d") ==
          "[1 0 [[[0 -1]] [[0 -1]]]]");
  REQUIRE(quota.Ask("QUOTA.HISTORY b 1").starts_with("[[o HOLD 0 4 "));
  REQUIRE(quota.Ask("QUOTA.RETURN b 1 o ITEMS HOLD 4 hold 5") == "[4 5]");
  CHECK(quota.Ask("QUOTA.CONFIRM b 1").starts_with("-ERR wrong number"));
  CHECK(quota.Ask("QUOTA.CONFIRM b 1 o NOW 1").starts_with("-ERR syntax error"));
}

TEST_CASE("QUOTA.BUY HOLD: what is logged") {
  QuotaHarness quota;
  quota.Ask("QUOTA.BUY b 1 o ITEMS 7 0 4 HOLD 10m");
  quota.Ask("QUOTA.CONFIRM b 1 o");
  quota.Ask("QUOTA.CONFIRM b 1 o");
  const auto effects = quota.Effects();
  REQUIRE(effects.size() == 2);
  CHECK(effects[0].starts_with("QUOTA.RECORD b 1 o ITEMS 7 0 4 HOLD 10m NOW 1700000000000"));
  CHECK(effects[1] == "QUOTA.CONFIRM b 1 o NOW 1700000000000");
}

TEST_CASE("QUOTA.HISTORY and QUOTA.STATS") {
  QuotaHarness quota;
  REQUIRE(quota.Ask("QUOTA.STATS b") == "[0 0 0 0]");
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1d 8 0 10 1d");
  quota.Ask("QUOTA.BUY b -1 -100 ITEMS 7 3 4 -8 0 1");
  quota.Ask("QUOTA.BUY b 2 101 ITEMS 7 0 1");
  quota.Ask("QUOTA.RETURN b -1 -100 ITEMS 7 1");
  REQUIRE(quota.Ask("QUOTA.HISTORY b -1") ==
          "[[-100 7 3 3 1700000000000 0] [-100 -8 0 1 1700000000000 0]]");
  REQUIRE(quota.Ask("QUOTA.HISTORY b 3") == "[]");
  REQUIRE(quota.Ask("QUOTA.STATS b").starts_with("[2 2 3 "));
  REQUIRE(quota.Ask("QUOTA.LEFT b 2 7") == "[[[0 9]]]");
}

TEST_CASE("QUOTA: purchases are kept for the longest window, and at least quota-retention") {
  QuotaHarness quota;
  quota.Ask("QUOTA.BUY b 1 1 ITEMS 7 0 4");
  quota.Advance(30 * kDay - 1);
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 40d");
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 6]]]");
  quota.Advance(10 * kDay);
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 6]]]");
  quota.Advance(1);
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 10]]]");
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 400d");  // what is gone does not come back
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 10]]]");
}

TEST_CASE("QUOTA: a changed quota-retention holds from the book's next change on") {
  QuotaHarness quota;
  quota.Ask("QUOTA.BUY b 1 1 ITEMS 7 0 4");
  quota.config.quota_retention_ms = 60 * kDay;
  quota.Ask("QUOTA.BUY b 2 1 ITEMS 7 0 4");
  REQUIRE(quota.Effects().back() ==
          "QUOTA.RECORD b 2 1 ITEMS 7 0 4 NOW 1700000000000 KEEP 5184000000");
  quota.Advance(31 * kDay);
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 60d");
  REQUIRE(quota.Effects() ==
          std::vector<std::string>{"QUOTA.SETLIMIT b 7 0 10 60d NOW 1702678400000"});
  REQUIRE(quota.Ask("QUOTA.LEFT b 1 7") == "[[[0 6]]]");
}

TEST_CASE("QUOTA: errors name the argument, and nothing is done") {
  QuotaHarness quota;
  quota.Ask("SET text value");
  quota.Effects();
  const std::pair<std::string, std::string> cases[] = {
      {"QUOTA.SETLIMIT b 1 0 x 1d", "-ERR limit is not an integer or out of range"},
      {"QUOTA.SETLIMIT b 1 0 -1 1d", "-ERR limit must be between 0 and 2147483647"},
      {"QUOTA.SETLIMIT b 1 0 2147483648 1d", "-ERR limit must be between 0 and 2147483647"},
      {"QUOTA.SETLIMIT b 1 0 1 1d 2 0 1", "-ERR window is missing"},
      {"QUOTA.SETLIMIT text 1 0 1 1d", "-" + std::string(kWrongTypeError)},
      {"QUOTA.BUY b 1 1 THINGS 1 0 1", "-ERR ITEMS is missing"},
      {"QUOTA.BUY b 1 1 ITEMS 1 0 1.0", "-ERR qty is not an integer or out of range"},
      {"QUOTA.BUY b 1 1 ITEMS 1 0 0", "-ERR qty must be between 1 and 2147483647"},
      {"QUOTA.BUY b 1 1 ITEMS 1 0 1 2 0", "-ERR qty is missing"},
      {"QUOTA.BUY b 1 1 ITEMS 1 0 1 AT", "-ERR AT is missing"},
      {"QUOTA.BUY b 1 1 ITEMS 1 0 1 ONCE MORE", "-ERR syntax error near 'MORE'"},
      {"QUOTA.BUY b 1 1 ITEMS 1 0 1 ONCE NOW 5", "-ERR syntax error near 'NOW'"},
      {"QUOTA.BUY b 1 1 ITEMS 1 0 1 NOW 5", "-ERR qty is missing"},
      {"QUOTA.BUY text 1 1 ITEMS 1 0 1", "-" + std::string(kWrongTypeError)},
      {"QUOTA.RETURN b 1 1 ITEMS 1 0", "-ERR qty must be between 1 and 2147483647"},
      {"QUOTA.RETURN b 1 1 ITEMS 1 1 MORE", "-ERR qty is missing"},
      {"QUOTA.LEFT b 1 7 ACTIONS 1", "-ERR syntax error near 'ACTIONS'"},
      {"QUOTA.LEFT text 1 7", "-" + std::string(kWrongTypeError)},
      {"QUOTA.LEFTBYUSER b 1 ACTIONS", "-ERR action is missing"},
      {"QUOTA.LIMITS b 1 AT 5", "-ERR syntax error near 'AT'"},
      {"QUOTA.DELLIMIT b ACTIONS 1", "-ERR sku is missing"},
      {"QUOTA.RESET b actions 1", "-ERR user is missing"},
      {"QUOTA.LEFT b 1 AT 5", "-ERR sku is missing"},
      {"QUOTA.STATS text", "-" + std::string(kWrongTypeError)},
      {"QUOTA.STATS", "-ERR wrong number of arguments for 'quota.stats' command"},
  };
  for (const auto& [line, error] : cases) {
    INFO(line);
    REQUIRE(WithoutUsage(quota.Run(line.c_str())) == error);
  }
  // What a time may be is time_args' to say; that it is asked, and for which argument, is ours.
  for (const char* line : {"QUOTA.SETLIMIT b 1 0 1 0", "QUOTA.SETLIMIT b 1 0 1 1y"}) {
    REQUIRE(quota.Run(line).starts_with("-ERR window must be a duration above 0"));
  }
  for (const char* line : {"QUOTA.BUY b 1 1 ITEMS 1 0 1 AT -1", "QUOTA.LEFT b 1 7 AT x",
                           "QUOTA.RETURN b 1 1 ITEMS 1 1 AT 5s"}) {
    REQUIRE(quota.Run(line).starts_with("-ERR AT must be"));
  }
  REQUIRE(quota.Effects().empty());
  REQUIRE(quota.Ask("EXISTS b") == "0");
}

TEST_CASE("QUOTA: a call has at most a thousand entries") {
  QuotaHarness quota;
  const auto call = [&](std::string line, std::string_view entry, int count) {
    for (int i = 0; i < count; ++i) StrAppend(line, " ", entry);
    return quota.Ask(line);
  };
  REQUIRE(call("QUOTA.SETLIMIT b", "1 0 5 1d", 1000) == "1000");
  REQUIRE(call("QUOTA.SETLIMIT b", "1 0 5 1d", 1001) == "-ERR limit at most 1000 in one call");
  REQUIRE(call("QUOTA.BUY b 1 1 ITEMS", "7 0 1", 1000).starts_with("[1 0"));
  REQUIRE(call("QUOTA.BUY b 1 1 ITEMS", "7 0 1", 1001) == "-ERR item at most 1000 in one call");
  REQUIRE(call("QUOTA.RETURN b 1 1 ITEMS", "7 1", 1001) == "-ERR item at most 1000 in one call");
  REQUIRE(call("QUOTA.LEFT b 1", "7", 1001) == "-ERR sku at most 1000 in one call");
  REQUIRE(call("QUOTA.LEFTBYUSER b 1 ACTIONS", "7", 1001) ==
          "-ERR action at most 1000 in one call");
}

// A SKU with 1000 limits, named a hundred times, is just what one call answers for.
TEST_CASE("QUOTA: a call of several ids answers for a hundred thousand limits at most") {
  QuotaHarness quota;
  const auto named = [](std::string line, std::string_view id, int count) {
    for (int i = 0; i < count; ++i) StrAppend(line, " ", id);
    return line;
  };
  const auto set = [&](int sku) {
    std::string line = "QUOTA.SETLIMIT b";
    for (int action = 0; action < 1000; ++action) {
      StrAppend(line, " ", sku, " ", action, " 5 1d");
    }
    REQUIRE(quota.Ask(line) == "1000");
  };
  set(7);
  const std::string error =
      " those named have more than 100000 limits or purchases, too many for one call; name fewer";
  const auto bounds = [&](const std::string& line, std::string_view id, std::string_view what) {
    INFO(line);
    REQUIRE(quota.Ask(named(line, id, 100)).starts_with("["));
    quota.Effects();
    REQUIRE(quota.Ask(named(line, id, 101)) == StrCat("-ERR ", what, error));
    REQUIRE(quota.Effects().empty());
  };
  bounds("QUOTA.LEFT b 1", "7", "sku");
  bounds("QUOTA.SHOW b 1", "7", "sku");
  bounds("QUOTA.LIMITS b", "7", "sku");
  bounds("QUOTA.RECORD b 1 1 ITEMS", "7 0 1", "item");
  bounds("QUOTA.BUY b 2 1 ITEMS", "7 900 1", "item");  // denied: the limit is 5
  bounds("QUOTA.LEFTBYUSER b", "1", "user");
  REQUIRE(quota.Ask("QUOTA.STATS b").starts_with("[1000 1 100 "));

  // Many SKUs. One user who has bought them all is answered, two are not.
  std::string skus, items;
  for (int sku = 7; sku <= 107; ++sku) {
    set(sku);
    StrAppend(skus, " ", sku);
    quota.Ask(StrCat("QUOTA.RECORD b 3 ", sku, " ITEMS ", sku, " 0 1"));
  }
  REQUIRE(quota.Ask(StrCat("QUOTA.LEFT b 1", skus)) == StrCat("-ERR sku", error));
  REQUIRE(quota.Ask("QUOTA.LEFTBYUSER b 3").starts_with("[["));
  REQUIRE(quota.Ask("QUOTA.LEFTBYUSER b 3 4") == StrCat("-ERR user", error));
  REQUIRE(quota.Ask("QUOTA.LEFTBYUSER b 3 4 ACTIONS 5") == StrCat("-ERR user", error));
  quota.Effects();
  REQUIRE(quota.Ask(StrCat("QUOTA.DELLIMIT b", skus)) == StrCat("-ERR sku", error));
  std::string again = "QUOTA.SETLIMIT b";
  for (int sku = 7; sku <= 107; ++sku) StrAppend(again, " ", sku, " 5 5 1d");
  REQUIRE(quota.Ask(again) == StrCat("-ERR sku", error));
  REQUIRE(quota.Effects().empty());
  REQUIRE(quota.Ask("QUOTA.STATS b").starts_with("[101000 2 201 "));
}

TEST_CASE("QUOTA.SHOW: what is used, and when the oldest that counts leaves") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 30 10s 7 spring 5 20s 8 0 3 1s");
  REQUIRE(quota.Ask("QUOTA.SHOW b 1 7 9 7") ==
          "[[[0 30 10000 0 30 0] [spring 5 20000 0 5 0]] [] [[0 30 10000 0 30 0] [spring 5 20000 "
          "0 5 0]]]");
  REQUIRE(quota.Ask("QUOTA.SHOW nobook 1 7 9") == "[[] []]");
  quota.Ask("QUOTA.BUY b 1 1 ITEMS 7 spring 4 AT 1699999995");
  quota.Ask("QUOTA.RECORD b 1 2 ITEMS 7 spring 4");
  REQUIRE(quota.Ask("QUOTA.SHOW b 1 7") ==
          "[[[0 30 10000 8 22 1700000005000] [spring 5 20000 8 0 1700000015000]]]");
  quota.Ask("QUOTA.RETURN b 1 1 ITEMS 7 4");  // what was returned keeps nothing
  REQUIRE(quota.Ask("QUOTA.SHOW b 1 7") ==
          "[[[0 30 10000 4 26 1700000010000] [spring 5 20000 4 1 1700000020000]]]");
  quota.Advance(10'000);
  REQUIRE(quota.Ask("QUOTA.SHOW b 1 7") ==
          "[[[0 30 10000 0 30 0] [spring 5 20000 4 1 1700000020000]]]");
  quota.Ask("QUOTA.RESET b 1 ACTIONS spring");
  REQUIRE(quota.Ask("QUOTA.SHOW b 1 7") == "[[[0 30 10000 0 30 0] [spring 5 20000 0 5 0]]]");
  quota.Ask("SET text x");
  REQUIRE(quota.Ask("QUOTA.SHOW text 1 7").starts_with("-WRONGTYPE"));
  quota.Ask("QUOTA.SETLIMIT b 7 0 30 9223372036854775807ms");
  quota.Ask("QUOTA.RECORD b 9 1 ITEMS 7 0 1");
  REQUIRE(quota.Ask("QUOTA.SHOW b 9 7").starts_with("[[[0 30 "));
}

TEST_CASE("QUOTA: a book lives as long as a limit or a purchase is in it") {
  QuotaHarness quota;
  quota.Ask("QUOTA.SETLIMIT b 7 0 10 1d");
  quota.Effects();
  REQUIRE(quota.Ask("QUOTA.DELLIMIT b 7") == "1");
  REQUIRE(quota.Ask("EXISTS b") == "0");
  REQUIRE(quota.Effects() == std::vector<std::string>{"DEL b"});

  SECTION("swept away when its last purchase is out of retention") {
    for (const std::string_view name : {"b", "c", "d"}) {
      quota.Ask(StrCat("QUOTA.BUY ", name, " 1 1 ITEMS 7 0 1"));
    }
    quota.Ask("QUOTA.SETLIMIT d 7 0 10 1d");
    quota.Ask("RENAME c e");
    quota.Ask("COPY b f");
    quota.Effects();
    quota.Advance(30 * kDay - 1);
    quota.Sweep();
    REQUIRE(quota.Ask("EXISTS b d e f") == "4");
    quota.Advance(1);
    REQUIRE(quota.Ask("QUOTA.HISTORY b 1") == "[]");
    for (int i = 0; i < 4; ++i) quota.Sweep();
    REQUIRE(quota.Ask("KEYS *") == "[d]");
    auto effects = quota.Effects();
    std::sort(effects.begin(), effects.end());
    // What is swept of a book that stays is an effect too.
    const std::string swept = StrCat("QUOTA.RESET d 1 ACTIONS NOW ", quota.now());
    REQUIRE(effects == std::vector<std::string>{"DEL b", "DEL e", "DEL f", swept});
    REQUIRE(quota.Ask("QUOTA.STATS d").starts_with("[1 0 0 "));
  }
}

TEST_CASE("QUOTA: changes are told as events of the module class") {
  Config config;
  config.notify_keyspace_events = kEventKeyevent | kEventModule | kEventGeneric;
  QuotaHarness quota(config);
  Client* listener = quota.Connect();
  quota.state.pubsub.SubscribePattern(*listener, "*");
  quota.Ask("QUOTA.SETLIMIT b 7 0 3 1d");
  quota.Ask("QUOTA.BUY b 1 1 ITEMS 7 0 2");
  quota.Ask("QUOTA.BUY b 1 2 ITEMS 7 0 2");  // denied: nothing to tell
  quota.Ask("QUOTA.RETURN b 1 1 ITEMS 7 1");
  quota.Ask("QUOTA.RESET b 1");
  quota.Ask("QUOTA.DELLIMIT b 7");
  const std::string received = quota.Received(*listener);
  std::vector<std::string> events;
  constexpr std::string_view kChannel = "__keyevent@0__:";
  for (size_t at = received.find(kChannel); at != std::string::npos;) {
    const size_t begin = at + kChannel.size();
    events.push_back(received.substr(begin, received.find('"', begin) - begin));
    at = received.find(kChannel, begin);
  }
  REQUIRE(events == std::vector<std::string>{"quota.setlimit", "quota.buy", "quota.return",
                                             "quota.reset", "quota.dellimit", "del"});
}

}  // namespace
}  // namespace tally::server::quota_commands_test
