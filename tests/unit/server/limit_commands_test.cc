#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "core/limit/policy_table.h"
#include "random_seed.h"
#include "server/command_harness.h"
#include "server/replay.h"
#include "server/usage_text.h"

namespace tally::server::limit_commands_test {
namespace {

constexpr int64_t kBeginS = CommandHarness::kBegin / 1000;

// allowed, limit, remaining, retry_after_ms, reset_after_ms, rule
std::string Decision(int allowed, int64_t limit, int64_t remaining, int64_t retry, int64_t reset,
                     int rule) {
  return StrCat("[:", allowed, " :", limit, " :", remaining, " :", retry, " :", reset, " :", rule,
                "]");
}

// Whether the reply says that it was allowed.
bool Allowed(const std::string& reply) {
  REQUIRE((reply.substr(0, 4) == "[:0 " || reply.substr(0, 4) == "[:1 "));
  return reply[2] == '1';
}

int Takes(CommandHarness& h, std::string_view command) {
  int taken = 0;
  while (Allowed(h.Run(command)) && taken < 1'000) ++taken;
  return taken;
}

// The unix milliseconds of an instant of UTC in 2026.
int64_t At2026(int month, int day, int hour, int minute = 0) {
  const absl::CivilSecond civil(2026, month, day, hour, minute);
  return absl::ToUnixMillis(absl::FromCivil(civil, absl::UTCTimeZone()));
}

}  // namespace

TEST_CASE("LIMIT.TAKE takes from every rule of every key, or from none") {
  CommandHarness h;
  const std::string both = "LIMIT.TAKE user FIXED 10 60s SLIDING 5 1s AND ip FIXED 2 60s";
  CHECK(h.Run(both) == Decision(1, 2, 1, 0, 60'000, 0));
  CHECK(h.Run(both) == Decision(1, 2, 0, 0, 60'000, 0));
  CHECK(h.Run(both) == Decision(0, 2, 0, 60'000, 60'000, 3));
  CHECK(h.Run("LIMIT.PEEK user FIXED 10 60s COST 0") == Decision(1, 10, 8, 0, 60'000, 0));
  CHECK(h.Run("LIMIT.PEEK user SLIDING 5 1s COST 0") == Decision(1, 5, 3, 0, 1'000, 0));
  CHECK(h.Run("TYPE ip") == "+limit");
  // A key that is named twice is one key.
  CHECK(h.Run("LIMIT.TAKE k FIXED 3 60s AND k SLIDING 3 60s COST 2") ==
        Decision(1, 3, 1, 0, 60'000, 0));
  CHECK(h.Run("LIMIT.TAKE k FIXED 3 60s AND k FIXED 9 60s") == Decision(1, 3, 0, 0, 60'000, 0));
  CHECK(h.Run("LIMIT.PEEK k FIXED 9 60s COST 0") == Decision(1, 9, 6, 0, 60'000, 0));
}

TEST_CASE("COST is how many are taken; one that can never fit is never retried") {
  CommandHarness h;
  CHECK(h.Run("LIMIT.TAKE k FIXED 10 60s COST 7") == Decision(1, 10, 3, 0, 60'000, 0));
  CHECK(h.Run("LIMIT.TAKE k FIXED 10 60s COST 4") == Decision(0, 10, 3, 60'000, 60'000, 1));
  CHECK(h.Run("LIMIT.TAKE k FIXED 10 60s COST 11") == Decision(0, 10, 3, -1, 60'000, 1));
  CHECK(h.Run("LIMIT.TAKE k FIXED 10 60s COST 3") == Decision(1, 10, 0, 0, 60'000, 0));
  // Nothing is taken, and no window opened, for nothing: the rules stand, or they do not.
  CHECK(h.Run("LIMIT.TAKE k FIXED 10 60s COST 0") == Decision(1, 10, 0, 0, 60'000, 0));
  CHECK(h.Run("LIMIT.TAKE k FIXED 9 60s COST 0") == Decision(0, 9, 0, 60'000, 60'000, 1));
  CHECK(h.Run("LIMIT.TAKE new FIXED 10 60s COST 0") == Decision(1, 10, 10, 0, 0, 0));
  CHECK(h.Run("EXISTS new") == ":0");
}

TEST_CASE("LIMIT.PEEK gives the answer of TAKE and changes nothing") {
  CommandHarness h;
  h.Run("LIMIT.TAKE k FIXED 2 60s");
  h.Effects();
  CHECK(h.Run("LIMIT.PEEK k FIXED 2 60s AND new SLIDING 1 1s") == Decision(1, 2, 0, 0, 60'000, 0));
  CHECK(h.Run("LIMIT.PEEK k FIXED 2 60s") == Decision(1, 2, 0, 0, 60'000, 0));
  CHECK(h.Run("LIMIT.PEEK k FIXED 2 60s COST 2") == Decision(0, 2, 1, 60'000, 60'000, 1));
  CHECK(h.Run("EXISTS new") == ":0");
  CHECK(h.Effects().empty());
}

TEST_CASE("LIMIT.FORCE takes even where it is denied, and answers as TAKE would have") {
  CommandHarness h;
  CHECK(h.Run("LIMIT.FORCE k FIXED 1 60s") == Decision(1, 1, 0, 0, 60'000, 0));
  CHECK(h.Run("LIMIT.FORCE k FIXED 1 60s") == Decision(0, 1, 0, 60'000, 60'000, 1));
  CHECK(h.Run("LIMIT.PEEK k FIXED 9 60s COST 0") == Decision(1, 9, 7, 0, 60'000, 0));
}

TEST_CASE("LIMIT.GIVE gives back the newest first, never below empty") {
  CommandHarness h;
  CHECK(h.Run("LIMIT.GIVE k") == ":0");
  const std::string take = "LIMIT.TAKE k SLIDING 4 10s FIXED 4 10s";
  h.Run(take);
  h.Advance(4'000);
  h.Run(take + " COST 2");
  CHECK(h.Run("LIMIT.GIVE k") == ":1");
  CHECK(h.Run("LIMIT.PEEK k SLIDING 4 10s COST 0") == Decision(1, 4, 2, 0, 10'000, 0));
  CHECK(h.Run("LIMIT.GIVE k 1") == ":1");
  // The hit that is left is the first one.
  CHECK(h.Run("LIMIT.PEEK k SLIDING 4 10s COST 0") == Decision(1, 4, 3, 0, 6'000, 0));
  CHECK(h.Run("LIMIT.GIVE k 100") == ":1");
  CHECK(h.Run("EXISTS k") == ":0");
  h.Run("LIMIT.TAKE k SLIDING 4 10s COST 3");
  h.Advance(1'000);
  h.Run("LIMIT.TAKE k SLIDING 4 10s");
  // Only what was taken until then.
  CHECK(h.Run(StrCat("LIMIT.GIVE k 9 AT ", kBeginS + 4)) == ":1");
  CHECK(h.Run("LIMIT.PEEK k SLIDING 4 10s COST 0") == Decision(1, 4, 3, 0, 10'000, 0));
  // A hit ahead of the clock is one now.
  h.Run(StrCat("LIMIT.TAKE k SLIDING 4 10s AT ", kBeginS + 8));
  CHECK(h.Run("LIMIT.GIVE k") == ":1");
  CHECK(h.Run("LIMIT.PEEK k SLIDING 4 10s COST 0") == Decision(1, 4, 3, 0, 10'000, 0));
}

TEST_CASE("LIMIT.RESET forgets the key") {
  CommandHarness h;
  CHECK(h.Run("LIMIT.RESET k") == ":0");
  h.Run("LIMIT.TAKE k FIXED 1 60s");
  CHECK(h.Run("LIMIT.RESET k") == ":1");
  CHECK(h.Run("LIMIT.TAKE k FIXED 1 60s") == Decision(1, 1, 0, 0, 60'000, 0));
}

TEST_CASE("a denial names the first rule that denied, over all the rules of all the keys") {
  CommandHarness h;
  h.Run("LIMIT.TAKE b FIXED 1 10s FIXED 1 20s");
  CHECK(h.Run("LIMIT.TAKE a ALLOW FIXED 5 1s AND b FIXED 2 10s FIXED 1 20s") ==
        Decision(0, 1, 0, 20'000, 20'000, 4));
  CHECK(h.Run("LIMIT.TAKE b FIXED 1 10s FIXED 1 20s") == Decision(0, 1, 0, 20'000, 10'000, 1));
  CHECK(h.Run("LIMIT.TAKE c ALLOW DENY") == Decision(0, 0, 0, -1, 0, 2));
  CHECK(h.Run("LIMIT.TAKE c ALLOW") == Decision(1, -1, -1, 0, -1, 0));
  CHECK(h.Run("LIMIT.TAKE c FIXED 0 10s") == Decision(0, 0, 0, -1, 0, 1));
  CHECK(h.Run("EXISTS a c") == ":0");
}

TEST_CASE("FIXED opens a window at the first hit, and its end never moves") {
  CommandHarness h;
  CHECK(Takes(h, "LIMIT.TAKE k FIXED 3 10s") == 3);
  h.Advance(9'999);
  CHECK_FALSE(Allowed(h.Run("LIMIT.TAKE k FIXED 3 10s")));
  CHECK(h.Run("PTTL k") == ":1");
  h.Advance(1);
  CHECK(Takes(h, "LIMIT.TAKE k FIXED 3 10s") == 3);
}

TEST_CASE("CALENDAR follows the clocks of its zone, over the changes of daylight saving") {
  CommandHarness h;
  // The natural day of Shanghai begins at 16:00 UTC.
  h.state.clock.Set(At2026(6, 1, 15, 59));
  const std::string shanghai = "LIMIT.TAKE k CALENDAR 1 day TZ Asia/Shanghai";
  CHECK(h.Run(shanghai) == Decision(1, 1, 0, 0, 60'000, 0));
  h.Advance(59'999);
  CHECK(h.Run(shanghai) == Decision(0, 1, 0, 1, 1, 1));
  h.Advance(1);
  CHECK(h.Run(shanghai) == Decision(1, 1, 0, 0, 86'400'000, 0));
  // New York: the day of the change has 23 hours in March and 25 in November.
  const std::string new_york = "LIMIT.TAKE ny CALENDAR 1 day TZ America/New_York";
  h.state.clock.Set(At2026(3, 8, 5));
  CHECK(h.Run(new_york) == Decision(1, 1, 0, 0, 23 * 3'600'000, 0));
  h.state.clock.Set(At2026(11, 1, 4));
  CHECK(h.Run(new_york) == Decision(1, 1, 0, 0, 25 * 3'600'000, 0));
  // Weeks begin on Monday unless told otherwise: the 1st of June 2026 is one.
  h.state.clock.Set(At2026(5, 31, 23));
  CHECK(h.Run("LIMIT.TAKE w CALENDAR 1 week") == Decision(1, 1, 0, 0, 3'600'000, 0));
  CHECK(h.Run("LIMIT.TAKE w CALENDAR 1 week WEEKSTART sunday") ==
        Decision(1, 1, 0, 0, 6 * 86'400'000 + 3'600'000, 0));
  CHECK(h.Run("LIMIT.TAKE w CALENDAR 1 week WEEKSTART monday TZ UTC") ==
        Decision(0, 1, 0, 3'600'000, 3'600'000, 1));
  // A leap day, a month and a year.
  h.state.clock.Set(At2026(1, 1, 0));
  CHECK(h.Run("LIMIT.TAKE y CALENDAR 1 year CALENDAR 1 month") ==
        Decision(1, 1, 0, 0, int64_t{365} * 86'400'000, 0));
}

TEST_CASE("SLIDING lets at most the limit into any window of that length") {
  CommandHarness h;
  const std::string take = "LIMIT.TAKE k SLIDING 2 10s";
  h.Run(take);
  h.Advance(6'000);
  h.Run(take);
  h.Advance(3'999);
  CHECK(h.Run(take) == Decision(0, 2, 0, 1, 6'001, 1));
  h.Advance(1);
  CHECK(h.Run(take) == Decision(1, 2, 0, 0, 10'000, 0));
  CHECK(h.Run(take) == Decision(0, 2, 0, 6'000, 10'000, 1));
}

TEST_CASE("ROLLING lets the hits of the window before leave one by one") {
  CommandHarness h;
  CHECK(Takes(h, "LIMIT.TAKE k ROLLING 10 10s") == 10);
  h.Advance(10'000);
  CHECK(Takes(h, "LIMIT.TAKE k ROLLING 10 10s") == 1);
  h.Advance(4'000);
  CHECK(Takes(h, "LIMIT.TAKE k ROLLING 10 10s") == 4);
}

TEST_CASE("BUCKET refills steadily and saves at most its capacity") {
  CommandHarness h;
  const std::string take = "LIMIT.TAKE k BUCKET 5 2 1s";
  CHECK(Takes(h, take) == 5);
  CHECK(h.Run(take) == Decision(0, 5, 0, 500, 2'500, 1));
  h.Advance(500);
  CHECK(Takes(h, take) == 1);
  h.Advance(3'600'000);
  CHECK(Takes(h, take) == 5);
}

TEST_CASE("BASE lets the first hits of the day pass, then limits by fixed windows") {
  CommandHarness h;
  h.state.clock.Set(At2026(6, 1, 15, 0));
  const std::string take = "LIMIT.TAKE k BASE 3 2 60s TZ Asia/Shanghai";
  CHECK(Takes(h, take) == 4);  // the third is the first of the window
  h.Advance(60'000);
  CHECK(Takes(h, take) == 2);
  h.state.clock.Set(At2026(6, 1, 16, 0));
  CHECK(Takes(h, take) == 4);
}

TEST_CASE("a hit ahead of the clock is one now") {
  CommandHarness h;
  h.state.clock.Set(At2026(6, 1, 12));
  const std::string tomorrow = StrCat(" AT ", At2026(6, 2, 12), "ms");
  for (const std::string rule : {"FIXED 3 1h", "SLIDING 3 1h", "CALENDAR 3 day", "ROLLING 3 1h",
                                 "BUCKET 3 1 1h", "BASE 0 3 1h", "BASE 3 0 1h"}) {
    INFO(rule);
    h.Run("DEL k");
    CHECK(Allowed(h.Run("LIMIT.TAKE k " + rule + " COST 2")));
    const std::string peeked = h.Run("LIMIT.PEEK k " + rule);
    CHECK(h.Run("LIMIT.TAKE k " + rule + tomorrow) == peeked);
    CHECK_FALSE(Allowed(h.Run("LIMIT.TAKE k " + rule)));
    CHECK_FALSE(Allowed(h.Run("LIMIT.TAKE k " + rule + tomorrow)));
    // What was taken ahead is given back as one that was taken now.
    CHECK(h.Run("LIMIT.GIVE k 1" + tomorrow) == ":1");
    CHECK(h.Run("LIMIT.PEEK k " + rule) == peeked);
  }
}

TEST_CASE("a late hit lowers a bucket by no more than its cost, and its figures are true") {
  CommandHarness h;
  const auto at = [&](int64_t seconds) { return StrCat(" AT ", h.now() / 1000 + seconds); };
  // Refilled since: forgotten, whatever else the key holds.
  for (const std::string other : {"ALLOW", "FIXED 99 1h"}) {
    h.Run("DEL k");
    h.Run("LIMIT.TAKE k BUCKET 20 1 1s " + other + " COST 20");
    h.Advance(20'000);
    CHECK(h.Run("LIMIT.TAKE k BUCKET 20 1 1s COST 15" + at(-20)) ==
          Decision(1, 20, 5, 0, 15'000, 0));
    CHECK(h.Run("LIMIT.PEEK k BUCKET 20 1 1s COST 0") == Decision(1, 20, 20, 0, 0, 0));
  }
  // A slower refill takes none of the tokens that are back.
  h.Run("LIMIT.TAKE s BUCKET 20 2 1s COST 20");
  h.Advance(9'000);
  CHECK(h.Run("LIMIT.PEEK s BUCKET 20 1 1s COST 0") == Decision(1, 20, 18, 0, 1'000, 0));
  CHECK(h.Run("LIMIT.TAKE s BUCKET 20 2 1s COST 5" + at(-2)) == Decision(1, 20, 9, 0, 5'500, 0));
  CHECK(h.Run("LIMIT.PEEK s BUCKET 20 1 1s COST 0") == Decision(1, 20, 13, 0, 3'500, 0));
  // A faster one works at once.
  h.Run("LIMIT.TAKE f BUCKET 10 1 1h COST 10");
  h.Advance(1'000);
  CHECK(h.Run("LIMIT.TAKE f BUCKET 10 3600 1h") == Decision(1, 10, 0, 0, 10'000, 0));
}

TEST_CASE("rules that share a counter do the same in any order") {
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{
           {"BUCKET 20 1 10s", "BUCKET 9 5 10s"}, {"BASE 1 9 1h", "BASE 4 9 1h"}}) {
    CommandHarness h;
    h.Run(StrCat("LIMIT.TAKE a ", one, " ", other, " COST 6"));
    h.Run(StrCat("LIMIT.TAKE b ", other, " ", one, " COST 6"));
    h.Run(StrCat("LIMIT.TAKE c ", other, " AND c ", one, " COST 6"));
    h.Advance(3'000);
    for (const std::string& rule : {one, other}) {
      const std::string a = h.Run(StrCat("LIMIT.PEEK a ", rule));
      CHECK(h.Run(StrCat("LIMIT.PEEK b ", rule)) == a);
      CHECK(h.Run(StrCat("LIMIT.PEEK c ", rule)) == a);
    }
    CHECK(h.Run("LIMIT.SHOW b") == h.Run("LIMIT.SHOW a"));
    CHECK(h.Run("LIMIT.SHOW c") == h.Run("LIMIT.SHOW a"));
    CHECK(h.Run("PTTL b") == h.Run("PTTL a"));
  }
}

TEST_CASE("LIMIT.SHOW says what each counter of a key holds") {
  CommandHarness h;
  CHECK(h.Run("LIMIT.SHOW k") == "[]");
  h.state.clock.Set(At2026(6, 1, 15));
  const int64_t now = h.now();
  h.Run("LIMIT.TAKE k SLIDING 9 10s FIXED 9 1m COST 2");
  h.Run("LIMIT.TAKE k BASE 2 9 1h TZ Asia/Shanghai COST 3");
  h.Advance(4'000);
  h.Run("LIMIT.TAKE k ROLLING 9 10s CALENDAR 9 week BUCKET 9 1 1m");
  h.Run(StrCat("LIMIT.TAKE k SLIDING 9 10s AT ", now + 9'000, "ms"));
  h.Effects();
  const auto row = [](std::string_view head, int64_t used, int64_t newest, int64_t ends) {
    return StrCat("[", head, " :", used, " :", newest, " :", ends, "]");
  };
  // Ordered by algorithm; week 23 of 2026 begins on the 1st of June.
  const std::string shown =
      StrCat("[", row("\"FIXED\" :60000", 2, now, now + 60'000), " ",
             row("\"CALENDAR\" \"week\"", 1, At2026(6, 1, 0), At2026(6, 8, 0)), " ",
             row("\"SLIDING\" :10000", 3, now + 4'000, now + 14'000), " ",
             row("\"ROLLING\" :10000", 1, now + 4'000, now + 14'000), " ",
             row("\"BUCKET\" :60000", 1, now + 4'000, now + 64'000), " ",
             row("\"BASE\" :3600000", 2, now, now + 3'600'000), " ",
             row("\"BASE\" \"day TZ Asia/Shanghai\"", 3, At2026(5, 31, 16), At2026(6, 1, 16)), "]");
  CHECK(h.Run("LIMIT.SHOW k") == shown);
  h.Run("HELLO 3");
  CHECK(h.Run("LIMIT.SHOW k") == shown);
  CHECK(h.Effects().empty());
  // What does not count any more is not shown.
  h.Advance(70'000);
  CHECK(h.Run("LIMIT.SHOW k") ==
        StrCat("[", row("\"CALENDAR\" \"week\"", 1, At2026(6, 1, 0), At2026(6, 8, 0)), " ",
               row("\"BASE\" :3600000", 2, now, now + 3'600'000), " ",
               row("\"BASE\" \"day TZ Asia/Shanghai\"", 3, At2026(5, 31, 16), At2026(6, 1, 16)),
               "]"));
  h.Run("LIMIT.TAKE z CALENDAR 9 month TZ +08:00 STARTS 31T10:00");
  h.Run("LIMIT.TAKE z CALENDAR 9 week WEEKSTART sunday");
  CHECK(h.Run("LIMIT.SHOW z").find("\"month TZ +08:00 STARTS 31T10:00\"") != std::string::npos);
  CHECK(h.Run("LIMIT.SHOW z").find("\"week STARTS sunday\"") != std::string::npos);
  h.Run("SET s 1");
  CHECK(h.Run("LIMIT.SHOW s") ==
        "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(WithoutUsage(h.Run("LIMIT.SHOW")) ==
        "-ERR wrong number of arguments for 'limit.show' command");
}

TEST_CASE("a zone may be written in any case and is kept as tzdata spells it") {
  CommandHarness h;
  CHECK(h.Run("POLICY.SET p CALENDAR 1 day TZ asia/shanghai WEEKSTART monday ALLOW") == "+OK");
  const std::string words = "CALENDAR 1 day TZ Asia/Shanghai WEEKSTART monday ALLOW";
  CHECK(h.Effects() == std::vector<std::string>{"POLICY.SET p " + words});
  CHECK(h.Run("POLICY.GET p") ==
        "[\"CALENDAR\" \"1\" \"day\" \"TZ\" \"Asia/Shanghai\" \"WEEKSTART\" \"monday\" \"ALLOW\"]");
  CHECK(Allowed(h.Run("LIMIT.TAKE k CALENDAR 1 day TZ ASIA/SHANGHAI")));
  CHECK(h.Effects().back().find("TZ Asia/Shanghai COST") != std::string::npos);
  CHECK_FALSE(Allowed(h.Run("LIMIT.TAKE k POLICY p")));
  CHECK(Allowed(h.Run("LIMIT.TAKE u BASE 0 1 1m TZ utc")));
  CHECK_FALSE(Allowed(h.Run("LIMIT.TAKE u BASE 0 1 1m")));
  for (const std::string_view zone :
       {"etc/gmt+1", "gmt", "Zulu", "america/argentina/buenos_aires", "cst6cdt"}) {
    INFO(zone);
    CHECK(Allowed(h.Run(StrCat("LIMIT.TAKE z", zone, " CALENDAR 1 day TZ ", zone))));
  }
}

TEST_CASE("a zone's name leads nowhere else") {
  CommandHarness h;
  for (const std::string& zone :
       {std::string(), std::string("../../../etc/passwd"), std::string("/usr/share/zoneinfo/UTC"),
        std::string("Asia/../UTC"), std::string("utc/"), std::string("./UTC"),
        std::string("UTC\0", 4), std::string("u\0tc", 4), std::string("Asia"), std::string("asia"),
        std::string("zone.tab"), std::string("localtime"), std::string("LocalTime"),
        std::string(1 << 20, 'a'), std::string("Europe/Atlantis")}) {
    const std::string reply = h.Run({"LIMIT.TAKE", "k", "CALENDAR", "1", "day", "TZ", zone});
    CHECK(reply.starts_with(
        "-ERR TZ must be an IANA time zone that this system knows, or an offset as +08:00, not '"));
    CHECK(reply.size() < 200);
  }
  CHECK(h.Effects().empty());
}

TEST_CASE("instants may be in milliseconds, and are not taken for them by mistake") {
  CommandHarness h;
  const int64_t now = h.now();
  CHECK(Allowed(h.Run(StrCat("LIMIT.TAKE k SLIDING 9 10s AT ", now - 5'000, "ms"))));
  CHECK(h.Run("LIMIT.PEEK k SLIDING 9 10s COST 0") == Decision(1, 9, 8, 0, 5'000, 0));
  CHECK(h.Run("PTTL k") == ":10000");
  CHECK(h.Run(StrCat("LIMIT.TAKE k SLIDING 9 10s AT ", now)) ==
        StrCat("-ERR AT ", now, " looks like milliseconds: write ", now, "ms"));
  CHECK(h.Run(StrCat("LIMIT.GIVE k 1 AT ", now)) ==
        StrCat("-ERR AT ", now, " looks like milliseconds: write ", now, "ms"));
}

TEST_CASE("a changed limit takes effect at once on the state that is there") {
  CommandHarness h;
  CHECK(Takes(h, "LIMIT.TAKE k FIXED 3 60s") == 3);
  CHECK(Takes(h, "LIMIT.TAKE k FIXED 5 60s") == 2);
  CHECK(h.Run("LIMIT.TAKE k FIXED 2 60s") == Decision(0, 2, 0, 60'000, 60'000, 1));
}

TEST_CASE("policies stand for their rules") {
  CommandHarness h;
  CHECK(h.Run("POLICY.GET api") == "nil[]");
  CHECK(h.Run("POLICY.DEL api") == ":0");
  CHECK(h.Run("POLICY.SET api FIXED 2 60s SLIDING 5 1h") == "+OK");
  CHECK(h.Run("POLICY.SET abc CALENDAR 1000 day TZ Asia/Shanghai") == "+OK");
  CHECK(h.Run("POLICY.LIST") == "[\"abc\" \"api\"]");
  CHECK(h.Run("POLICY.GET api") == "[\"FIXED\" \"2\" \"60s\" \"SLIDING\" \"5\" \"1h\"]");
  CHECK(h.Run("LIMIT.TAKE k POLICY api") == Decision(1, 2, 1, 0, 60'000, 0));
  CHECK(h.Run("LIMIT.TAKE k ALLOW POLICY api POLICY abc COST 2") ==
        Decision(0, 2, 1, 60'000, 60'000, 2));
  CHECK(h.Run("POLICY.SET api FIXED 3 60s") == "+OK");
  CHECK(h.Run("LIMIT.TAKE k POLICY api COST 2") == Decision(1, 3, 0, 0, 60'000, 0));
  CHECK(h.Run("FLUSHALL") == "+OK");
  CHECK(h.Run("POLICY.DEL api") == ":1");
  CHECK(h.Run("POLICY.LIST") == "[\"abc\"]");
  h.Effects();
  CHECK(h.Run("POLICY.SET x POLICY abc") ==
        "-ERR rule must be FIXED, CALENDAR, SLIDING, ROLLING, BUCKET, BASE, LOCKOUT, CONCURRENT, "
        "HOLDS, "
        "ALLOW or DENY in a "
        "policy, not 'POLICY'");
  CHECK(h.Run("POLICY.SET x FIXED 2") == "-ERR FIXED needs: limit period");
  CHECK(h.Run("POLICY.SET x FIXED a 5s") == "-ERR limit must be an integer of at least 0");
  CHECK(h.Run("LIMIT.TAKE k POLICY api") ==
        "-ERR POLICY must be the name of one, there is no 'api'");
  CHECK(h.Effects().empty());
}

TEST_CASE("a key has a limited number of counters, and room again when some count no more") {
  CommandHarness h;
  const auto take = [&](int64_t period_ms) {
    return h.Run(StrCat("LIMIT.TAKE k FIXED 9 ", period_ms, "ms")).substr(0, 4);
  };
  for (int i = 0; i < 1'000; ++i) REQUIRE(take(1'000'000 + i) == "[:1 ");
  CHECK(take(1'001'000) == "-ERR");
  CHECK(h.Run("LIMIT.FORCE k FIXED 9 2h").starts_with("-ERR the key has 1000 counters"));
  CHECK(h.Run("CL.THROTTLE k 5 10 60").starts_with("-ERR the key has 1000 counters"));
  CHECK(h.Run("LIMIT.TAKE other FIXED 9 1h AND k FIXED 9 2h").starts_with("-ERR"));
  CHECK(h.Run("EXISTS other") == ":0");
  CHECK(take(1'000'007) == "[:1 ");
  CHECK(h.Run("LIMIT.PEEK k FIXED 9 2h").starts_with("[:1 "));
  CHECK(h.Run("LIMIT.TAKE k FIXED 9 2h COST 0").starts_with("[:1 "));
  CHECK(h.Run("CL.THROTTLE k 5 10 60 0").starts_with("[:0 "));
  h.Advance(1'000'001);
  CHECK(take(1'001'000) == "[:1 ");
}

TEST_CASE("errors of LIMIT name the argument and change nothing") {
  CommandHarness h;
  const std::string duration = " must be a duration above 0, as 500ms, 5s, 10m, 24h or 7d";
  CHECK(h.Run("LIMIT.TAKE k FIXED") == "-ERR FIXED needs: limit period");
  CHECK(h.Run("LIMIT.TAKE k FIXED 5") == "-ERR FIXED needs: limit period");
  CHECK(h.Run("LIMIT.TAKE k FIXED -1 5s") == "-ERR limit must be an integer of at least 0");
  CHECK(h.Run("LIMIT.TAKE k FIXED 1 0s") == "-ERR period" + duration);
  CHECK(h.Run("LIMIT.TAKE k FIXED 1 1w") == "-ERR period" + duration);
  CHECK(h.Run("LIMIT.TAKE k BUCKET x 1 1s") == "-ERR capacity must be an integer of at least 0");
  CHECK(h.Run("LIMIT.TAKE k BUCKET 5 0 1s") == "-ERR refill must be an integer of at least 1");
  CHECK(h.Run("LIMIT.TAKE k BUCKET 9223372036854775807 1 1s") ==
        "-ERR capacity is too large for the period");
  CHECK(h.Run("LIMIT.TAKE k BASE -1 1 1s") == "-ERR base must be an integer of at least 0");
  CHECK(h.Run("LIMIT.TAKE k CALENDAR 1 fortnight") ==
        "-ERR unit must be second, minute, hour, day, week, month or year");
  CHECK(h.Run("LIMIT.TAKE k CALENDAR 1 day TZ Mars/Base") ==
        "-ERR TZ must be an IANA time zone that this system knows, or an offset as +08:00, not "
        "'Mars/Base'");
  for (const std::string_view zone : {"/etc/localtime", "../UTC", "Asia//Shanghai", "Asia", "."}) {
    CHECK(h.Run(StrCat("LIMIT.TAKE k CALENDAR 1 day TZ ", zone)).substr(0, 8) == "-ERR TZ ");
  }
  CHECK(h.Run("LIMIT.TAKE k CALENDAR 1 week WEEKSTART tuesday") ==
        "-ERR WEEKSTART must be monday or sunday");
  CHECK(h.Run("LIMIT.TAKE k FIXED 1 1s COST -1") == "-ERR COST must be an integer of at least 0");
  CHECK(WithoutUsage(h.Run("LIMIT.TAKE k FIXED 1 1s COST")) == "-ERR syntax error");
  CHECK(WithoutUsage(h.Run("LIMIT.TAKE k FIXED 1 1s FOO 1")) == "-ERR syntax error");
  CHECK(WithoutUsage(h.Run("LIMIT.TAKE k FIXED 1 1s AND")) == "-ERR syntax error");
  CHECK(WithoutUsage(h.Run("LIMIT.TAKE k FIXED 1 1s AND j")) == "-ERR syntax error");
  CHECK(h.Run("LIMIT.TAKE k SOMETIMES") ==
        "-ERR rule must be FIXED, CALENDAR, SLIDING, ROLLING, BUCKET, BASE, LOCKOUT, CONCURRENT, "
        "ALLOW, DENY or POLICY, "
        "not 'SOMETIMES'");
  CHECK(h.Run("LIMIT.GIVE k x") == "-ERR n must be an integer of at least 0");
  std::string many = "LIMIT.TAKE k";
  for (int i = 0; i < 65; ++i) many += " ALLOW";
  CHECK(h.Run(many) == "-ERR rules must be at most 64 in one command");
  h.Run("SET s 1");
  h.Effects();
  const std::string wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value";
  CHECK(h.Run("LIMIT.TAKE k FIXED 1 1s AND s FIXED 1 1s") == wrong);
  CHECK(h.Run("LIMIT.PEEK s ALLOW") == wrong);
  CHECK(h.Run("LIMIT.GIVE s") == wrong);
  CHECK(h.Run("LIMIT.RESET s") == wrong);
  CHECK(h.Run("CL.THROTTLE s 1 1 1") == wrong);
  CHECK(h.Effects().empty());
  CHECK(h.engine.database(0).size() == 1);
}

TEST_CASE("CL.THROTTLE answers as redis-cell does") {
  CommandHarness h;
  // The example of its README: 15 in a burst, 30 in 60 seconds.
  CHECK(h.Run("CL.THROTTLE user123 15 30 60 1") == "[:0 :16 :15 :-1 :2]");
  CHECK(h.Run("CL.THROTTLE user123 15 30 60") == "[:0 :16 :14 :-1 :4]");
  CHECK(h.Run("CL.THROTTLE user123 15 30 60 0") == "[:0 :16 :14 :-1 :4]");
  CHECK(h.Run("CL.THROTTLE user123 15 30 60 15") == "[:1 :16 :14 :2 :4]");
  CHECK(h.Run("CL.THROTTLE user123 15 30 60 14") == "[:0 :16 :0 :-1 :32]");
  CHECK(h.Run("CL.THROTTLE user123 15 30 60 17") == "[:1 :16 :0 :-1 :32]");
  CHECK(h.Run("CL.THROTTLE k -1 30 60") == "-ERR max_burst must be an integer of at least 0");
  CHECK(h.Run("CL.THROTTLE k 1 0 60") == "-ERR count must be an integer of at least 1");
  CHECK(h.Run("CL.THROTTLE k 1 1 0") == "-ERR period must be an integer of at least 1");
  CHECK(h.Run("CL.THROTTLE k 1 1 1 x") == "-ERR quantity must be an integer of at least 0");
  CHECK(WithoutUsage(h.Run("CL.THROTTLE k 1 1 1 1 1")) == "-ERR syntax error");
  CHECK(h.Run("CL.THROTTLE k 9223372036854775806 1 60") ==
        "-ERR max_burst is too large for the period");
  CHECK(h.Run("EXISTS k") == ":0");
}

TEST_CASE("the effects of LIMIT are what was taken, with absolute times and a policy's rules") {
  CommandHarness h;
  h.Advance(7);
  const std::string now = StrCat(kBeginS, ".007");
  h.Run("POLICY.SET p FIXED 2 60s ALLOW");
  CHECK(h.Effects() == std::vector<std::string>{"POLICY.SET p FIXED 2 60s ALLOW"});
  CHECK(h.engine.policies().Find("p")->rules().size() == 2);  // compiled before it is used
  h.Run("LIMIT.TAKE a POLICY p AND b SLIDING 1 10s COST 1");
  CHECK(h.Effects() == std::vector<std::string>{StrCat(
                           "LIMIT.TAKE a FIXED 2 60s ALLOW AND b SLIDING 1 10s COST 1 AT ", now)});
  h.Run("LIMIT.TAKE a POLICY p AND b SLIDING 1 10s");  // denied
  h.Run("LIMIT.TAKE a ALLOW");                         // counts nothing
  CHECK(h.Effects().empty());
  h.Run(StrCat("LIMIT.FORCE b SLIDING 1 10s AT ", kBeginS - 5));
  CHECK(h.Effects() == std::vector<std::string>{StrCat("LIMIT.FORCE b SLIDING 1 10s COST 1 AT ",
                                                       kBeginS - 5, ".000 NOW ", now)});
  h.Run("LIMIT.GIVE b");
  CHECK(h.Effects() ==
        std::vector<std::string>{StrCat("LIMIT.GIVE b 1 AT 253402300799.999 NOW ", now)});
  h.Run("CL.THROTTLE t 15 30 60 2");
  CHECK(h.Effects() ==
        std::vector<std::string>{StrCat("LIMIT.TAKE t BUCKET 16 30 60000ms COST 2 AT ", now)});
  h.Run("LIMIT.RESET b");
  CHECK(h.Effects() == std::vector<std::string>{"LIMIT.RESET b"});
}

TEST_CASE("LIMIT notifies listeners and watchers of every key that it took from") {
  CommandHarness h;
  h.state.key_events.set_classes(kEventKeyevent | kEventModule);
  Client& listener = *h.Connect();
  h.state.pubsub.SubscribePattern(listener, "__keyevent@0__:*");
  h.state.watches.Watch(listener, 0, "b", false);
  h.Run("LIMIT.TAKE a FIXED 1 60s AND free ALLOW");
  CHECK(h.Received(listener) ==
        "[\"pmessage\" \"__keyevent@0__:*\" \"__keyevent@0__:limit.take\" \"a\"]");
  CHECK_FALSE(listener.transaction.touched);
  h.Run("LIMIT.TAKE a FIXED 1 60s AND b FIXED 1 60s");  // denied
  CHECK_FALSE(listener.transaction.touched);
  h.Run("LIMIT.TAKE b FIXED 1 60s");
  CHECK(listener.transaction.touched);
}

TEST_CASE("the keys of LIMIT are found among its rules") {
  CommandHarness h;
  const auto keys = [&](std::vector<std::string_view> words) {
    const CommandEntry* entry = h.commands.Resolve(words);
    std::vector<KeyReference> found;
    REQUIRE(FindKeys(*entry->command, words, found));
    std::vector<size_t> indexes;
    for (const KeyReference& key : found) indexes.push_back(key.index);
    return indexes;
  };
  CHECK(keys({"limit.take", "and", "FIXED", "1", "5s"}) == std::vector<size_t>{1});
  CHECK(keys({"limit.peek", "a", "POLICY", "and", "and", "b", "CALENDAR", "1", "day", "TZ", "UTC",
              "AND", "c", "ALLOW", "COST", "2"}) == std::vector<size_t>{1, 5, 12});
}

TEST_CASE("64 clients get exactly the limit of FIXED, SLIDING and BUCKET") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const std::string rule : {"FIXED 100 60s", "SLIDING 100 60s", "BUCKET 100 1 60s"}) {
    CommandHarness h;
    std::vector<Client*> clients;
    for (int i = 0; i < 64; ++i) clients.push_back(h.Connect());
    int admitted = 0;
    for (int i = 0; i < 64 * 20; ++i) {
      Client& client = *clients[random.Below(clients.size())];
      admitted += Allowed(h.Run(client, "LIMIT.TAKE key " + rule)) ? 1 : 0;
      if (random.OneIn(4)) h.Advance(random.Between(0, 50));
    }
    REQUIRE(h.now() < CommandHarness::kBegin + 60'000);
    CHECK(admitted == 100);
  }
}

TEST_CASE("a FIXED key of 15 bytes costs at most 56 bytes and a BUCKET 64, everything included") {
  const auto bytes_a_key = [](const std::string& rule) {
    CommandHarness h;
    constexpr int kKeys = 100'000;
    for (int i = 0; i < kKeys; ++i) {
      h.Run(StrCat("LIMIT.TAKE koala:", 100'000'000 + i, " ", rule));
    }
    return static_cast<double>(h.engine.database(0).table_bytes()) / kKeys;
  };
  CHECK(bytes_a_key("FIXED 100 1d") <= 56);
  CHECK(bytes_a_key("BUCKET 100 10 60s") <= 64);
}

}  // namespace tally::server::limit_commands_test
