// What was counted by a clock that was far ahead, and that nobody writes after the clock was set
// back: it counts for a window from then on, and not until the clock shows its instant.
#include "server/loop/clock_set_back.h"

#include <string>
#include <vector>

#include "server/arguments/time_args.h"
#include "tests/unit/server/command_harness.h"
#include "tests/unit/server/effect_follower.h"

namespace tally::server::clock_set_back_test {
namespace {

constexpr int64_t kAheadMs = 400 * int64_t{86'400'000};

// An event while the clock is ahead, what is asked after it was set back, the replies then, and
// those when the window is over.
struct Case {
  std::vector<std::string> events;
  std::string question;
  std::string then;
  int64_t window_ms;
  std::string afterwards;
};

std::vector<Case> Cases() {
  std::vector<Case> cases = {
      {{"HITS.ADD H 60 COUNT 3"}, "HITS.COUNT H", ":3", 60'000, ":0"},
      {{"HITS.ADD H 60 CAP 3", "HITS.ADD H 60 COUNT 2"}, "HITS.COUNT H", ":3", 60'000, ":0"},
      {{"ACTIVE.TOUCH A ann bob"}, "ACTIVE.ONLINE A", ":2", 300'000, ":0"},
      {{"ACTIVE.CREATE A TZ Asia/Tokyo", "ACTIVE.TOUCH A ann"},
       "ACTIVE.ONLINE A",
       ":1",
       300'000,
       ":0"},
      {{"QUOTA.SETLIMIT Q 7 0 5 60s", "QUOTA.BUY Q ann 1 ITEMS 7 0 2"},
       "QUOTA.LEFT Q ann 7",
       "[[[\"0\" :3]]]",
       60'000,
       "[[[\"0\" :5]]]"},
      {{"QUOTA.SETLIMIT Q 7 0 5 60s", "QUOTA.RECORD Q ITEMS x ITEMS s a 1",
        "QUOTA.RECORD Q -9 x ITEMS 7 a 4"},
       "QUOTA.LEFT Q -9 7",
       "[[[\"0\" :1]]]",
       60'000,
       "[[[\"0\" :5]]]"},
      {{"LIMIT.RESERVE r 50s L FIXED 4 60s CONCURRENT 4 COST 2"},
       "LIMIT.PEEK L FIXED 4 60s COST 3",
       "[:0 :4 :2 :50000 :60000 :1]",
       60'000,
       "[:1 :4 :1 :0 :60000 :0]"},
      {{"LIMIT.TAKE L FIXED 4 60s ONCE x COST 4"},
       "LIMIT.PEEK L FIXED 4 60s",
       "[:0 :4 :0 :60000 :60000 :1]",
       60'000,
       "[:1 :4 :3 :0 :60000 :0]"},
  };
  for (const std::string rule :
       {"FIXED 1 60s", "SLIDING 1 60s", "ROLLING 1 60s", "BUCKET 1 1 60s", "BASE 0 1 60s",
        "CALENDAR 1 minute", "CALENDAR 1 minute TZ -09:30", "CALENDAR 1 minute TZ Asia/Kathmandu",
        "FIXED 1 60s FROM 0", "LOCKOUT 1 60s 60s", "LOCKOUT 1 60s 60s GROW 2 MAX 60s",
        "BASE 0 1 60s TZ Asia/Kathmandu STARTS 20:00"}) {
    cases.push_back({{"LIMIT.TAKE L " + rule}, "LIMIT.PEEK L " + rule, "[:0 :", 120'000, "[:1 :"});
  }
  for (const std::string rule : {"CALENDAR 1 month STARTS 31 TZ Europe/Berlin",
                                 "CALENDAR 1 year STARTS 02-29", "CALENDAR 1 week STARTS friday"}) {
    cases.push_back(
        {{"LIMIT.TAKE L " + rule}, "LIMIT.PEEK L " + rule, "[:0 :", 366 * 86'400'000ll, "[:1 :"});
  }
  return cases;
}

}  // namespace

TEST_CASE("what a clock that ran ahead has counted does not count for ever, if nobody writes it") {
  for (const Case& one : Cases()) {
    for (const bool by_server : {false, true}) {
      INFO(one.events.back() << (by_server ? "" : ", nobody sets it back"));
      CommandHarness h;
      h.state.clock.Set(h.now() + kAheadMs);
      for (const std::string& event : one.events) REQUIRE(h.Run(event).front() != '-');
      EffectFollower follower(h);
      h.Effects();
      h.state.clock.Set(h.now() - kAheadMs);
      CHECK(h.Run(one.question).starts_with(one.then));
      CHECK(h.Effects().empty());
      if (by_server) {
        CHECK(h.SetAllBack() > 0);
        CHECK(h.Run(one.question).starts_with(one.then));
        CHECK(h.SetAllBack() == 0);
        CHECK(follower.Run(0, {"TYPE", one.question.substr(one.question.find(' ') + 1, 1)}) !=
              "+none");
      }
      h.Advance(one.window_ms);
      h.ExpireDue();
      // Without this the reply is that of before: else the case shows nothing.
      CHECK(h.Run(one.question).starts_with(by_server ? one.afterwards : one.then));
    }
  }
}

TEST_CASE("setting back is an effect: whoever reads it has the same, and expires the same") {
  CommandHarness h;
  h.state.clock.Set(h.now() + kAheadMs);
  for (const Case& one : Cases()) {
    for (const std::string& event : one.events) h.Run(event);
  }
  // A key with more counters than one command may name, and a user with many purchases.
  for (int i = 1; i <= 150; ++i) {
    h.Run("LIMIT.TAKE L FIXED 9 " + std::to_string(i) + "s");
    h.Run("QUOTA.RECORD Q big " + std::to_string(i) + " ITEMS 7 0 1");
  }
  EffectFollower follower(h);
  h.state.clock.Set(h.now() - kAheadMs);
  h.Advance(3);
  CHECK(h.SetAllBack() >= 8);
  const auto same = [&] {
    for (const char* question : {"HITS.SHOW H", "LIMIT.SHOW L", "LIMIT.HELD L", "ACTIVE.SCAN A 0",
                                 "ACTIVE.DAY A", "QUOTA.HISTORY Q big", "QUOTA.HISTORY Q ITEMS",
                                 "QUOTA.LEFT Q ann 7", "PEXPIRETIME L", "PEXPIRETIME H"}) {
      INFO(question);
      std::vector<std::string> words;
      for (const char* at = question; *at != 0;) {
        const char* end = at;
        while (*end != 0 && *end != ' ') ++end;
        words.emplace_back(at, end);
        at = *end == 0 ? end : end + 1;
      }
      CHECK(follower.Run(0, words) == h.Run(words));
    }
  };
  same();
  CHECK(h.Run("PEXPIRETIME H") == StrCat(":", h.now() + 60'000));
  h.Advance(60'001);
  h.ExpireDue();
  same();
}

TEST_CASE("what a late hold has counted in a log lies ahead with the log's newest hit") {
  CommandHarness h;
  const int64_t begin_ms = h.now();
  h.Advance(4'000);
  REQUIRE(h.Run("LIMIT.TAKE L SLIDING 8 1h").starts_with("[:1 :8 :7"));
  h.Advance(3'000);
  const std::string late = std::string(InstantText(begin_ms).view());
  REQUIRE(h.Run("LIMIT.RESERVE r 20s L SLIDING 8 1h COST 3 AT " + late).starts_with("[:1 :8 :4"));
  h.state.clock.Set(begin_ms + 1'000);
  CHECK(h.SetAllBack() > 0);
  CHECK(h.Run("LIMIT.PEEK L SLIDING 8 1h COST 6").starts_with("[:0 :8 :4 :26000 "));
  h.Advance(60'000);
  CHECK(h.Run("LIMIT.PEEK L SLIDING 8 1h").starts_with("[:1 :8 :6"));
}

TEST_CASE("a command that counts nothing in a key forgets nothing there: no effect says so") {
  for (const char* const command :
       {"LIMIT.TAKE L SHADOW FIXED 0 1s", "LIMIT.TAKE M FIXED 9 1s AND L SHADOW FIXED 0 1s",
        "LIMIT.TAKE M FIXED 0 1s AND L FIXED 9 1s", "LIMIT.PEEK L FIXED 9 1s",
        "LIMIT.TAKE L FIXED 9 1s COST 0"}) {
    INFO(command);
    CommandHarness h;
    // A key with a hold is changed where it lies.
    REQUIRE(h.Run("LIMIT.RESERVE r 1h L FIXED 9 1d").starts_with("[:1"));
    REQUIRE(h.Run("LIMIT.TAKE L BUCKET 5 5 1s").starts_with("[:1"));
    EffectFollower follower(h);
    const int64_t begin_ms = h.now();
    h.Advance(2'000);
    h.Run(command);
    h.state.clock.Set(begin_ms + 1);
    const std::string shown = h.Run("LIMIT.SHOW L");
    CHECK(shown.find("BUCKET") != std::string::npos);
    CHECK(follower.Run(0, {"LIMIT.SHOW", "L"}) == shown);
  }
}

TEST_CASE("a command that changes nothing of a user forgets nothing there: no effect says so") {
  for (const char* const command :
       {"QUOTA.RESET B u", "QUOTA.RESET B u ACTIONS 0", "QUOTA.RETURN B u order ITEMS 1 1",
        "QUOTA.CONFIRM B u order", "QUOTA.BUY B u late ITEMS 1 0 9", "QUOTA.LEFT B u 1"}) {
    INFO(command);
    CommandHarness h;
    REQUIRE(h.Run("QUOTA.SETLIMIT B 1 0 5 1d") == ":1");
    REQUIRE(h.Run("QUOTA.BUY B u order ITEMS 1 0 1 HOLD 1s").starts_with("[:1"));
    EffectFollower follower(h);
    const int64_t begin_ms = h.now();
    h.Advance(2'000);
    h.Run(command);
    h.state.clock.Set(begin_ms + 1);
    const std::string shown = h.Run("QUOTA.HISTORY B u");
    CHECK(shown.find("order") != std::string::npos);
    CHECK(follower.Run(0, {"QUOTA.HISTORY", "B", "u"}) == shown);
  }
}

TEST_CASE("the server looks again after each jump of the clock, a segment at a time") {
  CommandHarness h;
  ClockSetBack set_back(h.state.services);
  const auto all = [&] {
    size_t effects = 0;
    while (set_back.goes_on()) effects += set_back.Next();
    return effects;
  };
  h.state.clock.Set(h.now() + kAheadMs);
  for (int i = 0; i < 2'000; ++i) h.Run(StrCat("HITS.ADD ", i, " 60"));
  h.Run("SET other 1");
  CHECK(all() == 0);
  h.state.clock.Set(h.now() - kAheadMs);
  REQUIRE(set_back.goes_on());
  size_t most = 0;
  size_t effects = 0;
  size_t steps = 0;
  for (; set_back.goes_on(); ++steps) {
    const size_t some = set_back.Next();
    most = std::max(most, some);
    effects += some;
  }
  CHECK(effects == 2'000);
  CHECK(steps > 10);
  CHECK(most < 1'000);
  CHECK(h.Run("TTL 1") == ":60");
  h.Advance(1'000);
  CHECK_FALSE(set_back.goes_on());
}

}  // namespace tally::server::clock_set_back_test
