// A log of QUOTA commands gives the same book at any later time.
#include <absl/strings/str_join.h>

#include <string>
#include <vector>

#include "tests/unit/random_seed.h"
#include "tests/unit/server/command_harness.h"
#include "tests/unit/server/replay.h"

namespace tally::server {
namespace {

constexpr int64_t kHour = int64_t{3600} * 1000;

// Texts beside the integers that they look like, and those that only a log gives a meaning.
const std::vector<std::string> kUsers = {"0", "1", "2", "now", "KEEP", "-0"};
const std::vector<std::string> kSkus = {"0", "1", "2", "01", "a\r\nb"};
const std::vector<std::string> kActions = {"0", "1", "2", "001", "spring"};

class Traffic {
 public:
  explicit Traffic(test::SeededRandom& random) : random_(random) {}

  std::string Next(int64_t now_ms) {
    const std::string user = User();
    switch (random_.Below(10)) {
      case 0:
        return StrCat("QUOTA.SETLIMIT b ", Sku(), " ", Action(), " ", random_.Below(9), " ",
                      1 + random_.Below(40 * 24), "h");
      case 1:
        return StrCat("QUOTA.DELLIMIT b ", Sku(), " ACTIONS ", Action(), " ", Action());
      case 2:
        return StrCat("QUOTA.RESET b ", user, random_.Below(2) == 0 ? "" : " ACTIONS 1");
      case 3:
      case 4:
        return StrCat("QUOTA.RETURN b ", user, " ", Order(), " ITEMS ", Sku(), " ",
                      1 + random_.Below(3), At(now_ms), random_.Below(2) == 0 ? "" : " ONCE");
      default:
        return StrCat(random_.Below(2) == 0 ? "QUOTA.BUY" : "QUOTA.RECORD", " b ", user, " ",
                      Order(), " ITEMS ", Sku(), " ", Action(), " ", 1 + random_.Below(3), " ",
                      Sku(), " ", Action(), " 1", At(now_ms), random_.Below(2) == 0 ? "" : " ONCE");
    }
  }

 private:
  std::string User() { return kUsers[random_.Below(kUsers.size())]; }
  std::string Sku() { return kSkus[random_.Below(kSkus.size())]; }
  std::string Action() { return kActions[random_.Below(kActions.size())]; }
  std::string Order() { return StrCat(random_.OneIn(3) ? "0" : "", random_.Below(20)); }
  std::string At(int64_t now_ms) {
    if (random_.Below(2) == 0) return "";
    return StrCat(" AT ", now_ms / 1000 + static_cast<int64_t>(random_.Below(90 * 24)) * 3600 -
                              int64_t{60} * 24 * 3600);
  }

  test::SeededRandom& random_;
};

std::string EverythingIn(CommandHarness& harness) {
  const std::string skus = absl::StrJoin(kSkus, " ");
  std::string text = harness.Run(StrCat("QUOTA.LIMITS b ", skus));
  StrAppend(text, harness.Run(StrCat("QUOTA.LEFTBYUSER b ", absl::StrJoin(kUsers, " "))),
            harness.Run("EXISTS b"));
  for (const std::string& user : kUsers) {
    StrAppend(text, harness.Run(StrCat("QUOTA.HISTORY b ", user)),
              harness.Run(StrCat("QUOTA.LEFT b ", user, " ", skus)));
  }
  return text;
}

TEST_CASE("QUOTA: a replay at a later time gives the same book") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int run = 0; run < 30; ++run) {
    CommandHarness original;
    Traffic traffic(random);
    for (int i = 0; i < 150; ++i) {
      original.Advance(static_cast<int64_t>(random.Below(2) * random.Below(12) * kHour));
      if (random.Below(30) == 0) {
        original.config.quota_retention = static_cast<int64_t>(1 + random.Below(50)) * 24 * kHour;
      }
      if (random.Below(20) == 0) original.engine.SweepSome(original.now(), [] { return true; });
      original.Run(traffic.Next(original.now()).c_str());
    }
    CommandHarness replayed;
    const int64_t later = original.now() + static_cast<int64_t>(random.Below(100)) * 24 * kHour;
    ReplayInto(replayed, original.Effects(), later);
    replayed.state.clock.Set(original.now());
    replayed.config.quota_retention = original.config.quota_retention;
    REQUIRE(EverythingIn(replayed) == EverythingIn(original));

    // And both go on in the same way.
    for (int i = 0; i < 20; ++i) {
      const std::string line = traffic.Next(original.now());
      REQUIRE(replayed.Run(line.c_str()) == original.Run(line.c_str()));
      original.Advance(kHour);
      replayed.Advance(kHour);
    }
    REQUIRE(EverythingIn(replayed) == EverythingIn(original));
  }
}

// As a server logged it in which BUY recorded whatever the limits said, unless IFLEFT was there.
const std::vector<std::string> kOldLog = {
    "QUOTA.SETLIMIT b 7 0 3 30d 7 1 2 12h 8 5 1 40d NOW 1760000000000",
    "QUOTA.BUY b 1 100 ITEMS 7 0 5 NOW 1760000000000",
    "QUOTA.BUY b 2 100 ITEMS 7 1 2 8 5 1 IFLEFT ONCE NOW 1760000000000",
    "QUOTA.BUY b 2 101 ITEMS 7 0 1 AT 1759900000.125 IFLEFT NOW 1760000001500",
    "QUOTA.BUY b -3 -9223372036854775808 ITEMS 8 5 2 8 5 1 99 9223372036854775807 1 "
    "AT 1759999999 ONCE NOW 1760000001500",
    "QUOTA.BUY b 4 1 ITEMS 7 1 1 NOW 1760000001500 KEEP 5184000000",
    "QUOTA.RETURN b 1 100 ITEMS 7 4 AT 1760000001 ONCE NOW 1760000001500",
    "QUOTA.DELLIMIT b 7 ACTIONS 1 NOW 1760000001500",
    "QUOTA.RESET b 2 ACTIONS 5 NOW 1760000001500",
    // Refused: what it leaves is the retention.
    "QUOTA.BUY b 4 2 ITEMS 7 1 3 IFLEFT NOW 1760000001500 KEEP 5184000000",
};

TEST_CASE("QUOTA: a log of the time before RECORD gives what it gave") {
  CommandHarness harness;
  ReplayInto(harness, kOldLog, 1'760'000'100'000);
  REQUIRE(harness.Run("QUOTA.LIMITS b 7 8") ==
          R"([[["0" :3 :2592000000 :1760000000000]] [["5" :1 :3456000000 :1760000000000]]])");
  REQUIRE(
      harness.Run("QUOTA.LEFTBYUSER b 1 2 -3 4") ==
      R"([[["7" [["0" :2]]]] [["7" [["0" :0]]] ["8" [["5" :1]]]] [["8" [["5" :0]]]] [["7" [["0" :2]]]]])");
  REQUIRE(harness.Run("QUOTA.HISTORY b 1") == R"([["100" "7" "0" :1 :1760000000000]])");
  REQUIRE(harness.Run("QUOTA.HISTORY b 2") ==
          R"([["100" "7" "1" :2 :1760000000000] ["100" "8" "5" :1 :1760000000000] )"
          R"(["101" "7" "0" :1 :1759900000125]])");
  REQUIRE(harness.Run("QUOTA.HISTORY b -3") ==
          R"([["-9223372036854775808" "8" "5" :2 :1759999999000] )"
          R"(["-9223372036854775808" "8" "5" :1 :1759999999000] )"
          R"(["-9223372036854775808" "99" "9223372036854775807" :1 :1759999999000]])");
  REQUIRE(harness.Run("QUOTA.HISTORY b 4") == R"([["1" "7" "1" :1 :1760000001500]])");
}

}  // namespace
}  // namespace tally::server
