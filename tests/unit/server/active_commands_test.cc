#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "core/tzdata/tzdata_zones.h"
#include "random_seed.h"
#include "server/command_harness.h"
#include "server/replay.h"
#include "server/usage_text.h"

namespace tally::server::active_commands_test {
namespace {

// 2023-11-14 22:13:20 UTC.
constexpr int64_t kBegin = CommandHarness::kBegin;
constexpr int64_t kBeginS = kBegin / 1000;
constexpr int64_t kDayMs = 86'400'000;

std::string Instant(int64_t ms) {
  return StrCat(ms / 1000, ".", std::to_string(1000 + ms % 1000).substr(1));
}

}  // namespace

TEST_CASE("active: what an audience is") {
  CommandHarness h;
  CHECK(h.Run("ACTIVE.SHOW none") == "nil[]");
  h.Run("ACTIVE.CREATE shop WINDOW 10m TZ Europe/Berlin KEEP 7d");
  CHECK(h.Run("ACTIVE.SHOW shop") == "[:600000 \"Europe/Berlin\" :604800000 :0 :0]");
  h.Run("ACTIVE.TOUCH shop ann bob");
  CHECK(h.Run("ACTIVE.SHOW shop") == "[:600000 \"Europe/Berlin\" :604800000 :2 :2]");
  h.Advance(600'000);
  h.Run("ACTIVE.FORGET shop ann");
  CHECK(h.Run("ACTIVE.SHOW shop") == "[:600000 \"Europe/Berlin\" :604800000 :1 :0]");
  h.Run("ACTIVE.TOUCH page cid");
  CHECK(h.Run("ACTIVE.SHOW page") == "[:300000 \"UTC\" :2592000000 :1 :1]");
  h.Run("SET text 1");
  CHECK(h.Run("ACTIVE.SHOW text").starts_with("-WRONGTYPE"));
}

TEST_CASE("ACTIVE.TOUCH answers the ids online now; an id is counted once") {
  CommandHarness h;
  CHECK(h.Run("ACTIVE.TOUCH k ann") == ":1");
  CHECK(h.Run("ACTIVE.TOUCH k ann bob cid ann") == ":3");
  h.Advance(299'999);
  CHECK(h.Run("ACTIVE.TOUCH k bob") == ":3");
  h.Advance(1);
  CHECK(h.Run("ACTIVE.TOUCH k dan") == ":2");
  CHECK(h.Run("TYPE k") == "+active");
  CHECK(h.Run("PTTL k") == ":-1");
  CHECK(h.Run("OBJECT ENCODING k") == "\"dense\"");
}

TEST_CASE("ACTIVE.TOUCH answers by the server's clock, whenever the ids were active") {
  CommandHarness h;
  CHECK(h.Run(StrCat("ACTIVE.TOUCHAT k ", kBeginS - 7'200, " ann bob cid")) == ":0");
  CHECK(h.Run("ACTIVE.ONLINE k") == ":0");
  CHECK(h.Run(StrCat("ACTIVE.TOUCHAT k ", kBegin - 299'999, "ms ann")) == ":1");
  h.Advance(1);
  // It is late, and the other one has gone.
  CHECK(h.Run(StrCat("ACTIVE.TOUCHAT k ", kBegin - 200'000, "ms bob")) == ":1");
  // An instant after now is now.
  CHECK(h.Run(StrCat("ACTIVE.TOUCHAT k ", kBeginS + 1'000, " cid")) == ":2");
  CHECK(h.Run("ACTIVE.ONLINE k") == ":2");
  CHECK(h.Run(StrCat("ACTIVE.ONLINE k AT ", kBeginS + 1'000)) == ":2");
  CHECK(h.Run("ACTIVE.SEEN k cid") ==
        StrCat("[:3 :", kBegin + 1, " :", kBegin - 7'200'000, " :1]"));
}

TEST_CASE("ACTIVE: after the clock is set back, what lies after it is of now") {
  for (const int64_t ahead : {int64_t{600'000}, 40 * kDayMs, 400 * kDayMs}) {
    INFO(ahead);
    CommandHarness h;
    h.Run(StrCat("ACTIVE.TOUCHAT k ", kBeginS - 86'400, " old"));
    h.Run("ACTIVE.TOUCH k early");
    h.state.clock.Set(kBegin + ahead);
    h.Run("ACTIVE.TOUCH k ghost");
    h.state.clock.Set(kBegin + 1'000);
    const std::string now = StrCat(":", h.now());
    // Before the next event it is read as of now; the event makes it so.
    for (const char* touch : {"", "ACTIVE.TOUCH k x y"}) {
      if (*touch != 0) h.Run(touch);
      const bool touched = *touch != 0;
      CHECK(h.Run("ACTIVE.SEEN k ghost") == StrCat("[:3 ", now, " ", now, " :1]"));
      CHECK(h.Run("ACTIVE.USERS k FROM 2023-11-13 TO 2023-11-14") == (touched ? ":5" : ":3"));
      CHECK(h.Run("ACTIVE.USERS k FROM 2023-11-15 TO 2025-11-15") == ":0");
      CHECK(h.Run("ACTIVE.DAY k")
                .starts_with(touched ? "[[\"2023-11-14\" :4 :4 :4 " : "[[\"2023-11-14\" :2 :2 "));
      CHECK(h.Run("ACTIVE.DAY k DAY 2023-11-13").starts_with("[[\"2023-11-13\" :1 :1 "));
    }
    CommandHarness copy;
    ReplayInto(copy, h.Effects(), kBegin + 500 * kDayMs);
    for (CommandHarness* server : {&h, &copy}) {
      server->state.clock.Set(kBegin + 1'000 + kDayMs);
      CHECK(server->Run("ACTIVE.TOUCH k p q") == ":2");
      CHECK(server->Run("ACTIVE.DAY k DAYS 3") ==
            StrCat("[[\"2023-11-13\" :1 :1 :1 :", kBegin - kDayMs, "] [\"2023-11-14\" :4 :4 :4 :",
                   kBegin + 1'000, "] [\"2023-11-15\" :2 :2 :2 :", kBegin + 1'000 + kDayMs, "]]"));
    }
  }
}

TEST_CASE("ACTIVE: days that a jump of the clock made old live a minute longer") {
  CommandHarness h;
  h.Run("ACTIVE.TOUCH k ann");
  const auto day = [&] { return h.Run("ACTIVE.DAY k DAY 2023-11-14").substr(0, 18); };
  h.Effects();
  h.state.clock.Set(kBegin + 400 * kDayMs);
  h.Run("ACTIVE.TOUCH k bob");
  CHECK(h.Effects() == std::vector<std::string>{StrCat(
                           "ACTIVE.TOUCH k bob AT ", kBeginS + 400 * kDayMs / 1'000, ".000 NOW ",
                           kBeginS + 400 * kDayMs / 1'000, ".000 FORGET ", kBeginS, ".000")});
  // What is read goes by now.
  CHECK(day() == "[[\"2023-11-14\" :0 ");
  SECTION("the clock is set back in time") {
    h.Advance(59'999);
    h.state.clock.Set(kBegin + 60'000);
    CHECK(day() == "[[\"2023-11-14\" :2 ");
    h.Run("ACTIVE.TOUCH k cid");
    CHECK(day() == "[[\"2023-11-14\" :3 ");
  }
  SECTION("it is set back too late") {
    h.Advance(60'001);
    h.Run("ACTIVE.TOUCH k cid");
    h.state.clock.Set(kBegin - kDayMs);
    CHECK(day() == "[[\"2023-11-14\" :0 ");
  }
}

TEST_CASE("an audience and a book outlive a deadline that only a jump has passed") {
  CommandHarness h;
  h.Run("ACTIVE.TOUCH page ann");
  h.Run("QUOTA.RECORD book ann 1 ITEMS 7 0 1");
  h.Run("SET text value");
  for (const char* key : {"page", "book", "text"}) h.Run(StrCat("EXPIRE ", key, " 7200"));
  h.state.clock.Set(kBegin + 40 * kDayMs);
  h.ExpireDue();
  CHECK(h.Run("EXISTS page book text") == ":2");
  CHECK(h.Run("SCAN 0 TYPE quota") == "[\"0\" [\"book\"]]");
  CHECK(h.Run("KEYS p*") == "[\"page\"]");
  CHECK(h.Run("PTTL page") == ":0");
  CHECK(h.Run("ACTIVE.SEEN page ann").starts_with("[:1 "));
  h.Run("ACTIVE.TOUCH page bob");
  h.Run("QUOTA.RECORD book bob 2 ITEMS 7 0 1");
  h.engine.SweepSome(h.now(), [] { return true; });
  SECTION("the clock is set back in time") {
    h.state.clock.Set(kBegin + 1);
    CHECK(h.Run("EXISTS page book text") == ":2");
    CHECK(h.Run("ACTIVE.SEEN page ann").starts_with("[:1 "));
    CHECK(h.Run("QUOTA.HISTORY book ann") == StrCat("[[\"1\" \"7\" \"0\" :1 :", kBegin, " :0]]"));
    CHECK(h.Run("QUOTA.HISTORY book bob").starts_with("[["));
    CommandHarness copy;
    ReplayInto(copy, h.Effects(), kBegin + 500 * kDayMs);
    copy.state.clock.Set(h.now());
    for (const char* ask : {"ACTIVE.DAY page DAYS 50", "QUOTA.HISTORY book ann",
                            "QUOTA.HISTORY book bob", "PEXPIRETIME page", "PEXPIRETIME book"}) {
      CHECK(copy.Run(ask) == h.Run(ask));
    }
  }
  SECTION("a minute has passed") {
    h.Advance(60'001);
    CHECK(h.Run("EXISTS page book text") == ":0");
    h.ExpireDue();
    CHECK(h.Run("DBSIZE") == ":0");
  }
}

TEST_CASE("ACTIVE.TOUCH answers what ACTIVE.ONLINE says right after it") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  CommandHarness h;
  h.Run("ACTIVE.CREATE k WINDOW 10s");
  for (int step = 0; step < 5'000; ++step) {
    h.Advance(random.OneIn(20) ? random.Between(0, 30'000) : random.Between(0, 1'500));
    const std::string at =
        random.OneIn(2) ? StrCat("AT k ", h.now() - random.Between(-8'000, 20'000), "ms") : " k";
    const std::string touched = h.Run(StrCat("ACTIVE.TOUCH", at, " id", random.Below(40)));
    INFO("step " << step << at);
    REQUIRE(touched == h.Run("ACTIVE.ONLINE k"));
  }
}

TEST_CASE("an id gets a dense number once and keeps it, and is last seen at the latest instant") {
  CommandHarness h;
  h.Run("ACTIVE.TOUCH k ann bob");
  h.Run(StrCat("ACTIVE.TOUCHAT k ", kBeginS - 60, " bob"));
  h.Advance(1'000);
  h.Run("ACTIVE.TOUCH k cid ann");
  CHECK(h.Run("ACTIVE.SEEN k bob") == StrCat("[:2 :", kBegin, " :", kBegin - 60'000, " :1]"));
  CHECK(h.Run("ACTIVE.SEEN k cid") ==
        StrCat("[:3 :", kBegin + 1'000, " :", kBegin + 1'000, " :1]"));
  CHECK(h.Run("ACTIVE.SEEN k ann") == StrCat("[:1 :", kBegin + 1'000, " :", kBegin, " :1]"));
  CHECK(h.Run("ACTIVE.SEEN k eve") == "nil[]");
  CHECK(h.Run("ACTIVE.SEEN none ann") == "nil[]");
  h.Advance(299'000);
  CHECK(h.Run("ACTIVE.SEEN k bob") == StrCat("[:2 :", kBegin, " :", kBegin - 60'000, " :0]"));
}

TEST_CASE("ACTIVE.ONLINE is exact at every instant") {
  CommandHarness h;
  CHECK(h.Run("ACTIVE.ONLINE k") == ":0");
  h.Run("ACTIVE.TOUCH k ann");
  h.Advance(60'000);
  h.Run("ACTIVE.TOUCH k bob");
  CHECK(h.Run("ACTIVE.ONLINE k") == ":2");
  h.Advance(239'999);
  CHECK(h.Run("ACTIVE.ONLINE k") == ":2");
  h.Advance(1);
  CHECK(h.Run("ACTIVE.ONLINE k") == ":1");
  CHECK(h.Run(StrCat("ACTIVE.ONLINE k AT ", kBeginS + 299)) == ":2");
  CHECK(h.Run(StrCat("ACTIVE.ONLINE k AT ", kBeginS + 359, ".999")) == ":1");
  h.Advance(59'999);
  CHECK(h.Run("ACTIVE.ONLINE k") == ":1");
  // AT after now is now.
  CHECK(h.Run(StrCat("ACTIVE.ONLINE k AT ", kBeginS + 360)) == ":1");
  h.Advance(1);
  CHECK(h.Run(StrCat("ACTIVE.ONLINE k AT ", kBeginS + 360)) == ":0");
}

TEST_CASE("ACTIVE.CREATE sets window, zone and keeping once") {
  CommandHarness h;
  CHECK(h.Run("ACTIVE.CREATE k WINDOW 10s TZ Asia/Shanghai KEEP 2d") == "+OK");
  CHECK(h.Effects() == std::vector<std::string>{"ACTIVE.CREATE k WINDOW 10000ms TZ Asia/Shanghai "
                                                "KEEP 172800000ms"});
  CHECK(h.Run("ACTIVE.CREATE k") == "-ERR key exists already");
  CHECK(h.Run("ACTIVE.CREATE d") == "+OK");
  CHECK(h.Effects() ==
        std::vector<std::string>{"ACTIVE.CREATE d WINDOW 300000ms TZ UTC KEEP 2592000000ms"});
  CHECK(h.Run("ACTIVE.CREATE z TZ asia/SHANGHAI") == "+OK");
  CHECK(h.Effects() == std::vector<std::string>{
                           "ACTIVE.CREATE z WINDOW 300000ms TZ Asia/Shanghai KEEP 2592000000ms"});
  h.Run("ACTIVE.TOUCH k ann");
  // It is the 15th in Shanghai already.
  CHECK(h.Run("ACTIVE.DAY k") == StrCat("[[\"2023-11-15\" :1 :1 :1 :", kBegin, "]]"));
  h.Advance(10'000);
  CHECK(h.Run("ACTIVE.ONLINE k") == ":0");
  // What was before the days that are kept is forgotten; ids are not.
  h.Advance(3 * 86'400'000);
  h.Run("ACTIVE.TOUCH k bob");
  CHECK(h.Run("ACTIVE.DAY k DAY 2023-11-15") == "[[\"2023-11-15\" :0 :0 :0 :0]]");
  CHECK(h.Run("ACTIVE.SEEN k ann") == StrCat("[:1 :", kBegin, " :", kBegin, " :0]"));
}

TEST_CASE("ACTIVE.ALTER changes the window and the keeping, from now on") {
  CommandHarness h;
  h.Run("ACTIVE.CREATE k WINDOW 10s TZ Asia/Shanghai KEEP 2d");
  h.Run("ACTIVE.TOUCH k ann");
  h.Advance(20'000);
  h.Run("ACTIVE.TOUCH k bob");
  CHECK(h.Run("ACTIVE.ONLINE k") == ":1");
  h.Effects();
  // What is still known counts, and nobody was lost from the figures of the day.
  CHECK(h.Run("ACTIVE.ALTER k WINDOW 1m") == "+OK");
  CHECK(h.Effects() == std::vector<std::string>{
                           StrCat("ACTIVE.ALTER k WINDOW 60000ms NOW ", kBeginS + 20, ".000")});
  CHECK(h.Run("ACTIVE.ONLINE k") == ":2");
  CHECK(h.Run("ACTIVE.PEAK k") == StrCat("[:2 :", kBegin + 20'000, "]"));
  CHECK(h.Run("ACTIVE.SHOW k") == "[:60000 \"Asia/Shanghai\" :172800000 :2 :2]");
  CHECK(h.Run("ACTIVE.ALTER k KEEP 30d WINDOW 20s") == "+OK");
  CHECK(h.Run("ACTIVE.ONLINE k") == ":1");
  CHECK(h.Run("ACTIVE.PEAK k") == StrCat("[:2 :", kBegin + 20'000, "]"));
  CHECK(h.Run("ACTIVE.SHOW k") == "[:20000 \"Asia/Shanghai\" :2592000000 :2 :1]");
  // Days are kept for longer now, and what a shorter time has deleted does not come back.
  h.Advance(3 * kDayMs);
  h.Run("ACTIVE.TOUCH k cid");
  CHECK(h.Run("ACTIVE.DAY k DAY 2023-11-15").starts_with("[[\"2023-11-15\" :2 :2 :2 "));
  CHECK(h.Run("ACTIVE.ALTER k KEEP 1d") == "+OK");
  CHECK(h.Run("ACTIVE.ALTER k KEEP 30d") == "+OK");
  CHECK(h.Run("ACTIVE.DAY k DAY 2023-11-15") == "[[\"2023-11-15\" :0 :0 :0 :0]]");
  CHECK(h.Run("ACTIVE.SEEN k ann").starts_with("[:1 "));
}

TEST_CASE("ACTIVE.ALTER refuses what ACTIVE.CREATE refuses, and replays to the same answers") {
  CommandHarness h;
  CHECK(h.Run("ACTIVE.ALTER k WINDOW 1m") == "-ERR no such key");
  h.Run("ACTIVE.TOUCH k ann");
  CHECK(h.Run("ACTIVE.ALTER k WINDOW 32d") == "-ERR WINDOW must be at most 31d");
  CHECK(h.Run("ACTIVE.ALTER k KEEP 3661d") == "-ERR KEEP must be at most 3660d");
  for (const char* wrong : {"", " TZ UTC", " WINDOW", " WINDOW 1m WINDOW 1m", " WINDOW 1m NOW 5",
                            " WINDOW 0", " KEEP -1"}) {
    CHECK(h.Run(StrCat("ACTIVE.ALTER k", wrong)).starts_with("-ERR "));
  }
  h.Run("SET s 1");
  CHECK(h.Run("ACTIVE.ALTER s WINDOW 1m").starts_with("-WRONGTYPE"));
  CHECK(h.Run("ACTIVE.SHOW k") == "[:300000 \"UTC\" :2592000000 :1 :1]");
  h.Advance(301'000);
  CHECK(h.Run("ACTIVE.ALTER k WINDOW 31d KEEP 3660d") == "+OK");
  CHECK(h.Run("ACTIVE.ALTER k WINDOW 31d") == "+OK");
  CommandHarness copy;
  ReplayInto(copy, h.Effects(), h.now() + 40 * kDayMs);
  copy.state.clock.Set(h.now());
  for (const char* ask : {"ACTIVE.SHOW k", "ACTIVE.DAY k DAYS 3", "ACTIVE.ONLINE k"}) {
    CHECK(copy.Run(ask) == h.Run(ask));
  }
  CHECK(h.Run("ACTIVE.ONLINE k") == ":1");
}

TEST_CASE("ACTIVE.PEAK and ACTIVE.DAY tell of each day who was active and new, and the peak") {
  CommandHarness h;
  CHECK(h.Run("ACTIVE.PEAK k") == "[:0 :0]");
  CHECK(h.Run("ACTIVE.DAY k DAYS 2") ==
        "[[\"2023-11-13\" :0 :0 :0 :0] [\"2023-11-14\" :0 :0 :0 :0]]");
  h.Run("ACTIVE.TOUCH k ann");
  h.Advance(1'000);
  h.Run("ACTIVE.TOUCH k bob");
  CHECK(h.Run("ACTIVE.PEAK k") == StrCat("[:2 :", kBegin + 1'000, "]"));
  h.Advance(86'400'000);
  h.Run("ACTIVE.TOUCH k bob");
  h.Run("ACTIVE.TOUCH k cid dan");
  CHECK(h.Run("ACTIVE.PEAK k") == StrCat("[:3 :", h.now(), "]"));
  CHECK(h.Run("ACTIVE.PEAK k DAY 2023-11-14") == StrCat("[:2 :", kBegin + 1'000, "]"));
  CHECK(h.Run("ACTIVE.DAY k DAYS 2") == StrCat("[[\"2023-11-14\" :2 :2 :2 :", kBegin + 1'000,
                                               "] [\"2023-11-15\" :3 :2 :3 :", h.now(), "]]"));
  CHECK(h.Run("ACTIVE.PEAK k DAY 2023-11-13") == "[:0 :0]");
  CHECK(h.Run("ACTIVE.DAY k DAY 2023-11-13") == "[[\"2023-11-13\" :0 :0 :0 :0]]");
}

TEST_CASE("ACTIVE.USERS counts an id once, however many of the days it was active on") {
  CommandHarness h;
  h.Run("ACTIVE.TOUCH k ann bob");
  h.Advance(86'400'000);
  h.Run("ACTIVE.TOUCH k bob cid");
  CHECK(h.Run("ACTIVE.USERS k FROM 2023-11-14 TO 2023-11-15") == ":3");
  CHECK(h.Run("ACTIVE.USERS k FROM 2023-11-15 TO 2023-11-15") == ":2");
  CHECK(h.Run("ACTIVE.USERS k FROM 2023-11-16 TO 2024-11-15") == ":0");
  CHECK(h.Run("ACTIVE.USERS none FROM 2023-11-14 TO 2023-11-15") == ":0");
}

TEST_CASE("ACTIVE.SERIES gives the most that were online in each step") {
  CommandHarness h;
  const int64_t minute = kBegin - kBegin % 60'000;
  h.state.clock.Set(minute);
  h.Run("ACTIVE.CREATE k WINDOW 90s");
  h.Run("ACTIVE.TOUCH k ann bob");
  h.Advance(60'000);
  h.Run("ACTIVE.TOUCH k cid");
  h.Advance(300'000);
  const auto row = [&](int i, int online) {
    return StrCat("[:", minute + i * 60'000, " :", online, "]");
  };
  CHECK(h.Run(StrCat("ACTIVE.SERIES k FROM ", minute / 1000, " TO ", minute / 1000 + 240,
                     " STEP 1m")) ==
        StrCat("[", row(0, 2), " ", row(1, 3), " ", row(2, 1), " ", row(3, 0), "]"));
  CHECK(h.Run(StrCat("ACTIVE.SERIES k FROM ", minute / 1000, " TO ", minute / 1000 + 240,
                     " STEP 2m")) == StrCat("[", row(0, 3), " ", row(2, 1), "]"));
  CHECK(h.Run("ACTIVE.SERIES none FROM 1 TO 2 STEP 1m") == "[]");
  CHECK(h.Run("ACTIVE.SERIES k FROM 1 TO 6000001 STEP 1m").substr(0, 3) == "[[:");
  CHECK(h.Run("ACTIVE.SERIES k FROM 1 TO 6000002 STEP 1m") ==
        "-ERR STEP must not cut the range into more than 100000 steps");
  CHECK(h.Run("ACTIVE.SERIES k FROM 1 TO 2 STEP 90s") == "-ERR STEP must be whole minutes");
}

TEST_CASE("ACTIVE.SCAN shows each id once, or those online; ACTIVE.FORGET forgets them") {
  CommandHarness h;
  CHECK(h.Run("ACTIVE.SCAN none 0") == "[\"0\" []]");
  for (int i = 1; i <= 12; ++i) h.Run(StrCat("ACTIVE.TOUCH k id", i));
  CHECK(h.Run("ACTIVE.SCAN k 0 COUNT 2") == "[\"2\" [\"id1\" \"id2\"]]");
  CHECK(h.Run("ACTIVE.SCAN k 10") == "[\"0\" [\"id11\" \"id12\"]]");
  h.Advance(300'000);
  h.Run("ACTIVE.TOUCH k id5");
  CHECK(h.Run("ACTIVE.SCAN k 0 COUNT 100 ONLINE") == "[\"0\" [\"id5\"]]");
  h.Effects();
  CHECK(h.Run("ACTIVE.FORGET k id5 nobody id6") == ":2");
  CHECK(h.Run("ACTIVE.FORGET k id5") == ":0");
  CHECK(h.Run("ACTIVE.FORGET none id5") == ":0");
  CHECK(h.Effects() == std::vector<std::string>{"ACTIVE.FORGET k id5 nobody id6"});
  CHECK(h.Run("ACTIVE.ONLINE k") == ":0");
  CHECK(h.Run("ACTIVE.SEEN k id6") == "nil[]");
  // Its number is not given again.
  h.Run("ACTIVE.TOUCH k id5");
  CHECK(h.Run("ACTIVE.SEEN k id5") == StrCat("[:13 :", h.now(), " :", h.now(), " :1]"));
}

TEST_CASE("errors of ACTIVE name the argument and change nothing") {
  CommandHarness h;
  const std::string date = " must be a date as yyyy-mm-dd, from 1970 on";
  CHECK(h.Run("ACTIVE.CREATE k WINDOW 32d") == "-ERR WINDOW must be at most 31d");
  CHECK(h.Run("ACTIVE.CREATE k KEEP 3661d") == "-ERR KEEP must be at most 3660d");
  CHECK(h.Run("ACTIVE.CREATE k TZ Mars/Base") ==
        "-ERR TZ must be an IANA time zone that this system knows, or an offset as +08:00, not "
        "'Mars/Base'");
  CHECK(WithoutUsage(h.Run("ACTIVE.CREATE k TZ")) == "-ERR syntax error");
  CHECK(h.Run("ACTIVE.TOUCHAT k x a") ==
        "-ERR t must be unix seconds, with or without a fraction, or milliseconds as "
        "1795230400123ms");
  CHECK(h.Run({"ACTIVE.TOUCH", "k", std::string(65'536, 'x')}) ==
        "-ERR id must be at most 65535 bytes long");
  CHECK(WithoutUsage(h.Run("ACTIVE.ONLINE k AT")) == "-ERR syntax error");
  CHECK(WithoutUsage(h.Run("ACTIVE.ONLINE k AT 1 AT 2")) == "-ERR AT is given twice");
  CHECK(h.Run("ACTIVE.PEAK k DAY 2023-02-29") == "-ERR DAY" + date);
  CHECK(WithoutUsage(h.Run("ACTIVE.PEAK k DAYS 3")) == "-ERR syntax error");
  CHECK(h.Run("ACTIVE.DAY k DAYS 0") == "-ERR DAYS must be an integer of at least 1");
  CHECK(h.Run("ACTIVE.DAY k DAYS 3661") == "-ERR DAYS must be at most 3660");
  CHECK(h.Run("ACTIVE.USERS k FROM x TO 2023-01-01") == "-ERR FROM" + date);
  CHECK(h.Run("ACTIVE.USERS k FROM 2023-01-02 TO 2023-01-01") == "-ERR TO must not be before FROM");
  CHECK(h.Run("ACTIVE.SCAN k x") == "-ERR cursor must be an integer of at least 0");
  CHECK(h.Run("ACTIVE.SCAN k 0 COUNT 0") == "-ERR COUNT must be an integer of at least 1");
  CHECK(h.engine.database(0).size() == 0);
  CHECK(h.Effects().empty());
  h.Run("SET s 1");
  for (const std::string_view line :
       {"ACTIVE.CREATE s", "ACTIVE.TOUCH s a", "ACTIVE.FORGET s a", "ACTIVE.ONLINE s",
        "ACTIVE.SEEN s a", "ACTIVE.PEAK s", "ACTIVE.DAY s", "ACTIVE.SCAN s 0",
        "ACTIVE.USERS s FROM 2023-01-01 TO 2023-01-01", "ACTIVE.SERIES s FROM 1 TO 2 STEP 1m"}) {
    CHECK(h.Run(line) == "-WRONGTYPE Operation against a key holding the wrong kind of value");
  }
}

TEST_CASE("the effects of ACTIVE carry absolute times; an id may be any text") {
  CommandHarness h;
  h.Run("ACTIVE.TOUCH k ann bob");
  h.Run(StrCat("ACTIVE.TOUCHAT k ", kBeginS - 5, " cid"));
  h.Run("ACTIVE.TOUCH k at 1234");
  h.Run("ACTIVE.TOUCH k AT 5 NOW 6");
  h.Run("ACTIVE.TOUCH k FORGET 6");
  h.Run(StrCat("ACTIVE.TOUCHAT k ", kBeginS - 5, " AT 7 NOW 8"));
  const std::vector<std::string> effects = h.Effects();
  const std::string late = StrCat(" AT ", kBeginS - 5, ".000 NOW ", kBeginS, ".000");
  CHECK(effects ==
        std::vector<std::string>{StrCat("ACTIVE.TOUCH k ann bob AT ", kBeginS, ".000"),
                                 StrCat("ACTIVE.TOUCH k cid", late),
                                 StrCat("ACTIVE.TOUCH k at 1234 AT ", kBeginS, ".000"),
                                 StrCat("ACTIVE.TOUCH k AT 5 NOW 6 AT ", kBeginS, ".000"),
                                 StrCat("ACTIVE.TOUCH k FORGET 6 AT ", kBeginS, ".000"),
                                 StrCat("ACTIVE.TOUCH k AT 7 NOW 8", late)});
  CommandHarness copy;
  ReplayInto(copy, effects, kBegin + kDayMs);
  copy.state.clock.Set(kBegin);
  for (const char* ask : {"ACTIVE.SCAN k 0 COUNT 100", "ACTIVE.ONLINE k", "ACTIVE.SEEN k at",
                          "ACTIVE.SEEN k AT", "ACTIVE.SEEN k 8"}) {
    CHECK(copy.Run(ask) == h.Run(ask));
  }
  CHECK(h.Run("ACTIVE.ONLINE k") == ":12");
}

TEST_CASE("ACTIVE notifies listeners and watchers") {
  CommandHarness h;
  h.state.key_events.set_classes(kEventKeyevent | kEventModule);
  Client& listener = *h.Connect();
  h.state.pubsub.SubscribePattern(listener, "__keyevent@0__:*");
  h.state.watches.Watch(listener, 0, "k", false);
  h.Run("ACTIVE.TOUCH k ann");
  CHECK(h.Received(listener) ==
        "[\"pmessage\" \"__keyevent@0__:*\" \"__keyevent@0__:active.touch\" \"k\"]");
  CHECK(listener.transaction.touched);
}

namespace {

// All events of one set, and what the specification says of them.
struct ActiveModel {
  ActiveModel(int64_t window_ms, Zone& its_zone) : window(window_ms), zone(&its_zone) {}

  int64_t window;
  Zone* zone;
  std::vector<std::string> order;
  std::map<std::string, std::vector<int64_t>> seen;
  int64_t latest = 0;
  std::map<int32_t, std::pair<int64_t, int64_t>> peaks;

  int64_t Last(const std::string& id) const {
    const auto& events = seen.at(id);
    return *std::max_element(events.begin(), events.end());
  }
  int64_t OnlineAt(int64_t t) const {
    return std::count_if(seen.begin(), seen.end(),
                         [&](const auto& entry) { return Last(entry.first) > t - window; });
  }
  void Evaluate(int64_t t) {
    const int64_t online = OnlineAt(t);
    auto& [peak, peak_at] = peaks[zone->DayOf(t)];
    if (online > peak) {
      peak = online;
      peak_at = t;
    }
  }
  // Evaluates where days begin, up to `t`.
  void Pass(int64_t t) {
    if (latest == 0) latest = t;
    for (int64_t begin = zone->Containing(latest, CalendarUnit::kDay).end_ms; begin <= t;
         begin = zone->Containing(begin, CalendarUnit::kDay).end_ms) {
      Evaluate(begin);
    }
    latest = std::max(latest, t);
  }
  void Touch(const std::vector<std::string>& ids, int64_t at, int64_t now) {
    at = std::min(at, now);
    Pass(at);
    for (const std::string& id : ids) {
      if (!seen.contains(id)) order.push_back(id);
      seen[id].push_back(at);
    }
    Evaluate(latest);
  }
  // Is asked at an instant of `day` or later.
  std::string Day(int32_t day, int64_t now) {
    const auto as_before = std::pair(latest, peaks);
    Pass(now);
    int64_t active = 0;
    int64_t fresh = 0;
    for (const auto& [id, events] : seen) {
      const auto on_day = [&](int64_t at) { return zone->DayOf(at) == day; };
      if (std::any_of(events.begin(), events.end(), on_day)) ++active;
      if (on_day(*std::min_element(events.begin(), events.end()))) ++fresh;
    }
    const auto [peak, peak_at] = peaks[day];
    std::tie(latest, peaks) = as_before;
    return StrCat("[[\"", FormatDate(day), "\" :", active, " :", fresh, " :", peak, " :", peak_at,
                  "]]");
  }
};

}  // namespace

TEST_CASE("ACTIVE agrees with a list of all events, and its log replays to the same answers") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  CommandHarness h;
  Zone zone = *LoadZone("America/New_York");
  ActiveModel model(600'000, zone);
  h.state.clock.Set(1'699'160'000'000);  // the change back of November 2023 follows
  h.Run("ACTIVE.CREATE k WINDOW 10m TZ America/New_York KEEP 60d");
  std::vector<std::string> effects = h.Effects();
  for (int step = 0; step < 1'500; ++step) {
    if (random.OneIn(2)) h.Advance(random.OneIn(60) ? 40'000'000 : random.Between(0, 200'000));
    const int64_t now = h.now();
    std::vector<std::string> ids;
    for (uint64_t i = 0; i < 1 + random.Below(3); ++i) ids.push_back(StrCat("u", random.Below(60)));
    const int64_t late[] = {600'000, 599'999, 86'400'000, random.Between(0, 900'000), -2'000};
    const int64_t at = random.OneIn(4) ? now - late[random.Below(5)] : now;
    const bool is_late = at != now || random.OneIn(2);
    std::string line = is_late ? "ACTIVE.TOUCHAT k " + Instant(at) : "ACTIVE.TOUCH k";
    for (const std::string& id : ids) line += " " + id;
    INFO(line);
    model.Touch(ids, at, now);
    REQUIRE(h.Run(line) == StrCat(":", model.OnlineAt(now)));
    REQUIRE(h.Run("ACTIVE.ONLINE k") == StrCat(":", model.OnlineAt(now)));
    const int64_t then = now - random.Between(0, 700'000);
    REQUIRE(h.Run("ACTIVE.ONLINE k AT " + Instant(then)) == StrCat(":", model.OnlineAt(then)));
    if (step % 10 == 0) {
      const int32_t day = zone.DayOf(now) - static_cast<int32_t>(random.Below(3));
      REQUIRE(h.Run("ACTIVE.DAY k DAY " + FormatDate(day)) == model.Day(day, now));
    }
    for (std::string& effect : h.Effects()) effects.push_back(std::move(effect));
  }
  CommandHarness copy;
  ReplayInto(copy, effects, h.now() + 1'000'000'000'000);
  copy.state.clock.Set(h.now());
  std::vector<std::string> questions{
      "ACTIVE.ONLINE k", "ACTIVE.SCAN k 0 COUNT 100", "ACTIVE.DAY k DAYS 40",
      StrCat("ACTIVE.USERS k FROM ", FormatDate(zone.DayOf(h.now()) - 7), " TO ",
             FormatDate(zone.DayOf(h.now()))),
      StrCat("ACTIVE.SERIES k FROM ", h.now() / 1000 - 500'000, " TO ", h.now() / 1000,
             " STEP 5m")};
  for (size_t i = 0; i < model.order.size(); ++i) {
    questions.push_back("ACTIVE.SEEN k " + model.order[i]);
    REQUIRE(h.Run(questions.back()).substr(0, 8).find(StrCat("[:", i + 1, " ")) == 0);
  }
  for (const std::string& question : questions) REQUIRE(copy.Run(question) == h.Run(question));
}

}  // namespace tally::server::active_commands_test
