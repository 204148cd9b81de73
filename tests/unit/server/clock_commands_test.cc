// Commands under clocks that go back, jump, and pass leap days, 2038 and changes of daylight
// saving.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/command_harness.h"

namespace tally::server::clock_commands_test {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kLeapNoon = 1'835'438'400'000;  // 2028-02-29 12:00 UTC
constexpr int64_t kLeapEve = 1'835'481'599'500;   // 500 ms before 2028-03-01 UTC
constexpr int64_t kEnd32 = 2'147'483'647'000;     // the last second of 32 bits, in January 2038
constexpr int64_t kSpring = 1'774'745'999'000;    // a second before Berlin's clocks go forward
constexpr int64_t kAutumn = 1'792'889'999'000;    // a second before they go back
constexpr int64_t kFarYear = 32'503'680'000'000;  // the year 3000

constexpr int64_t kInstants[] = {kLeapNoon, kLeapEve, kEnd32,   kEnd32 + 500,
                                 kSpring,   kAutumn,  kFarYear, 1};

void SetClock(CommandHarness& h, int64_t ms) { h.state.clock.Set(ms); }

std::string Seconds(int64_t ms) { return StrCat(ms / 1000); }

// Each way to let the key k live for an hour: some commands, by parts.
std::vector<std::vector<std::string>> HourLives(int64_t now) {
  const std::string ms = StrCat(now + kHour);
  return {{"SET k v EX 3600"},
          {"SET k v PX 3600000"},
          {StrCat("SET k v PXAT ", ms)},
          {"SETEX k 3600 v"},
          {"PSETEX k 3600000 v"},
          {"INCREX k EX 3600"},
          {"INCREX k PX 3600000"},
          {StrCat("INCREX k PXAT ", ms)},
          {"SET k v", "EXPIRE k 3600"},
          {"SET k v", "PEXPIRE k 3600000"},
          {"SET k v", StrCat("PEXPIREAT k ", ms)},
          {"SET k v", "GETEX k EX 3600"},
          {"SET k v", "GETEX k PX 3600000"},
          {"SET k v", StrCat("GETEX k PXAT ", ms)},
          {"SET k v EX 3600", "SET k w KEEPTTL"},
          {"RPUSH k 1", "EXPIRE k 3600"},
          {"HITS.ADD k 1h"},
          {"LIMIT.TAKE k FIXED 5 1h"},
          {"LIMIT.TAKE k SLIDING 5 1h"},
          {"LIMIT.TAKE k BUCKET 1 1 1h"},
          {"CL.THROTTLE k 0 1 3600"}};
}

TEST_CASE("A key lives exactly as long as it was told, whatever the date") {
  for (const int64_t start : kInstants) {
    for (const std::vector<std::string>& lines : HourLives(start)) {
      CommandHarness h;
      SetClock(h, start);
      for (const std::string& line : lines) {
        INFO(start << ": " << line);
        REQUIRE(h.Run(line)[0] != '-');
      }
      INFO(start << ": " << lines.back());
      CHECK(h.Run("PEXPIRETIME k") == StrCat(":", start + kHour));
      CHECK(h.Run("EXPIRETIME k") == StrCat(":", (start + kHour + 500) / 1000));
      CHECK(h.Run("PTTL k") == StrCat(":", kHour));
      CHECK(h.Run("TTL k") == ":3600");
      SetClock(h, start + kHour - 1);
      h.ExpireDue();
      CHECK(h.Run("EXISTS k") == ":1");
      CHECK(h.Run("PTTL k") == ":1");
      SetClock(h, start + kHour);
      CHECK(h.Run("EXISTS k") == ":0");
      h.ExpireDue();
      CHECK(h.Run("DBSIZE") == ":0");
    }
  }
}

TEST_CASE("Instants in whole seconds are kept as they are") {
  for (const int64_t start : kInstants) {
    const std::string at = Seconds(start + kHour);
    for (const std::string& line : {StrCat("SET k v EXAT ", at), StrCat("INCREX k EXAT ", at),
                                    StrCat("EXPIREAT old ", at), StrCat("GETEX old EXAT ", at)}) {
      CommandHarness h;
      SetClock(h, start);
      h.Run("SET old v");
      INFO(line);
      REQUIRE(h.Run(line)[0] != '-');
      const char* key = line.find("old") == std::string::npos ? "k" : "old";
      CHECK(h.Run(StrCat("EXPIRETIME ", key)) == StrCat(":", at));
      CHECK(h.Run(StrCat("PEXPIRETIME ", key)) == StrCat(":", at, "000"));
    }
  }
}

TEST_CASE("A clock that is set back keeps everything that was there, and its end") {
  for (const int64_t start : {kLeapNoon, kEnd32, kAutumn}) {
    for (const std::vector<std::string>& lines : HourLives(start)) {
      CommandHarness h;
      SetClock(h, start);
      for (const std::string& line : lines) h.Run(line);
      INFO(start << ": " << lines.back());
      SetClock(h, start - 2 * kDay);
      h.ExpireDue();
      CHECK(h.Run("PTTL k") == StrCat(":", 2 * kDay + kHour));
      SetClock(h, start + kHour - 1);
      CHECK(h.Run("EXISTS k") == ":1");
      SetClock(h, start + kHour);
      CHECK(h.Run("EXISTS k") == ":0");
    }
  }
}

TEST_CASE("What is gone stays gone when the clock is set back") {
  CommandHarness h;
  SetClock(h, kLeapNoon);
  h.Run("SET read v PX 10");
  h.Run("SET swept v PX 10");
  h.Advance(10);
  CHECK(h.Run("GET read") == "nil");
  h.ExpireDue();
  CHECK(h.Effects().size() == 4);
  SetClock(h, kLeapNoon);
  CHECK(h.Run("EXISTS read swept") == ":0");
}

TEST_CASE("A clock that is set back admits nothing more, and nobody waits more than a period") {
  for (const std::string rule : {"FIXED 2 1h", "SLIDING 2 1h", "BUCKET 2 2 1h"}) {
    for (const int64_t back : {int64_t{1}, kHour, 40 * kDay}) {
      INFO(rule << " " << back);
      CommandHarness h;
      SetClock(h, kLeapNoon);
      const auto take = [&] { return h.Run(StrCat("LIMIT.TAKE k ", rule)).substr(0, 3) == "[:1"; };
      CHECK(take());
      CHECK(take());
      SetClock(h, kLeapNoon - back);
      CHECK_FALSE(take());
      SetClock(h, kLeapNoon - back + kHour - 1);
      if (rule[0] != 'B') CHECK_FALSE(take());  // a bucket has regained one by now
      SetClock(h, kLeapNoon - back + kHour);
      CHECK(take());
    }
  }
}

TEST_CASE("Counting goes on across a clock that is set back") {
  CommandHarness h;
  SetClock(h, kLeapNoon);
  CHECK(h.Run("HITS.ADD h 1h") == ":1");
  CHECK(h.Run("ACTIVE.TOUCH a ann") == ":1");
  h.Run("QUOTA.SETLIMIT q 7 0 10 1h");
  CHECK(h.Run("QUOTA.BUY q 1 11 ITEMS 7 0 3") == R"([:1 :0 [[["0" :7]]]])");
  SetClock(h, kLeapNoon - kDay);
  // Events from the future count.
  CHECK(h.Run("HITS.ADD h 1h") == ":2");
  h.Run("ACTIVE.TOUCH a bob");
  CHECK(h.Run("ACTIVE.ONLINE a") == ":2");
  CHECK(h.Run("QUOTA.LEFT q 1 7") == R"([[["0" :7]]])");
  // They became hits of now, and leave a period later.
  SetClock(h, kLeapNoon - kDay + kHour - 1);
  CHECK(h.Run("HITS.COUNT h") == ":2");
  SetClock(h, kLeapNoon - kDay + kHour);
  CHECK(h.Run("HITS.COUNT h") == ":0");
  SetClock(h, kLeapNoon + kHour - 1);
  CHECK(h.Run("QUOTA.LEFT q 1 7") == R"([[["0" :7]]])");
  SetClock(h, kLeapNoon + kHour);
  CHECK(h.Run("QUOTA.LEFT q 1 7") == R"([[["0" :10]]])");
  CHECK(h.Run("ACTIVE.ONLINE a") == ":0");
  // What was after the clock became of now when the next event came.
  CHECK(h.Run("ACTIVE.DAY a DAY 2028-02-28").substr(0, 18) == "[[\"2028-02-28\" :2 ");
  CHECK(h.Run("ACTIVE.DAY a DAY 2028-02-29").substr(0, 18) == "[[\"2028-02-29\" :0 ");
}

TEST_CASE("A jump of a thousand years ends what is due and breaks nothing") {
  CommandHarness h;
  SetClock(h, kAutumn);
  for (const std::vector<std::string>& lines : HourLives(kAutumn)) {
    for (const std::string& line : lines) h.Run(line);
    h.Run(StrCat("RENAME k ", lines[0].substr(0, lines[0].find(' ')), h.Run("DBSIZE").substr(1)));
  }
  h.Run("ACTIVE.TOUCH page ann");
  SetClock(h, kFarYear);
  h.ExpireDue();
  CHECK(h.Run("ACTIVE.TOUCH page ann") == ":1");
  CHECK(h.Run("ACTIVE.DAY page").substr(0, 18) == "[[\"3000-01-01\" :1 ");
  CHECK(h.Run("DBSIZE") == ":1");
  CHECK(h.Run("LIMIT.TAKE k CALENDAR 1 year TZ Europe/Berlin")[2] == '1');
  CHECK(h.Run("LIMIT.TAKE k CALENDAR 1 year TZ Europe/Berlin")[2] == '0');
}

TEST_CASE("Days follow the calendar: 29 February, and days of 23 and 25 hours") {
  struct Case {
    const char* zone;
    int64_t now;
    int64_t left_ms;  // of the day
  };
  for (const Case& one : {Case{"UTC", kLeapEve, 500}, Case{"UTC", kEnd32, 74'753'000},
                          // 01:59:59, then 03:00: 21 hours and a second are left
                          Case{"Europe/Berlin", kSpring, 21 * kHour + kSecond},
                          // 02:59:59, then 02:00 again: 22 hours and a second
                          Case{"Europe/Berlin", kAutumn, 22 * kHour + kSecond}}) {
    CommandHarness h;
    SetClock(h, one.now);
    INFO(one.zone << " " << one.now);
    const std::string take = StrCat("LIMIT.TAKE k CALENDAR 1 day TZ ", one.zone);
    CHECK(h.Run(take) == StrCat("[:1 :1 :0 :0 :", one.left_ms, " :0]"));
    SetClock(h, one.now + one.left_ms - 1);
    CHECK(h.Run(take)[2] == '0');
    SetClock(h, one.now + one.left_ms);
    CHECK(h.Run(take)[2] == '1');
  }
}

TEST_CASE("Times that 64 bits cannot hold are refused, and change nothing") {
  for (const int64_t now : {kLeapNoon, kFarYear}) {
    CommandHarness h;
    SetClock(h, now);
    h.Run("SET k v");
    for (const char* line : {"SET k w EX 9223372036854775807", "SET k w PX 9223372036854775807",
                             "SETEX k 9223372036854775 w", "PSETEX k 9223372036854775807 w",
                             "EXPIRE k 9223372036854775", "PEXPIRE k 9223372036854775807",
                             "EXPIREAT k 9223372036854775807", "GETEX k EX 9223372036854775",
                             "INCREX n EX 9223372036854775", "HITS.ADD h 9223372036854775807",
                             "LIMIT.TAKE l FIXED 1 9223372036854775807"}) {
      INFO(line);
      CHECK(h.Run(line).substr(0, 4) == "-ERR");
    }
    CHECK(h.Run("GET k") == "\"v\"");
    CHECK(h.Run("PTTL k") == ":-1");
    CHECK(h.Run("DBSIZE") == ":1");
  }
}

}  // namespace
}  // namespace tally::server::clock_commands_test
