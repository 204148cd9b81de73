// A log of QUOTA commands gives the same book at any later time.
#include <string>
#include <vector>

#include "tests/unit/random_seed.h"
#include "tests/unit/server/command_harness.h"
#include "tests/unit/server/replay.h"

namespace tally::server {
namespace {

constexpr int64_t kHour = int64_t{3600} * 1000;

class Traffic {
 public:
  explicit Traffic(test::SeededRandom& random) : random_(random) {}

  std::string Next(int64_t now_ms) {
    const int64_t user = random_.Below(4);
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
        return StrCat("QUOTA.RETURN b ", user, " ", random_.Below(20), " ITEMS ", Sku(), " ",
                      1 + random_.Below(3), At(now_ms), random_.Below(2) == 0 ? "" : " ONCE");
      default:
        return StrCat("QUOTA.BUY b ", user, " ", random_.Below(20), " ITEMS ", Sku(), " ", Action(),
                      " ", 1 + random_.Below(3), " ", Sku(), " ", Action(), " 1", At(now_ms),
                      random_.Below(2) == 0 ? "" : " IFLEFT", random_.Below(2) == 0 ? "" : " ONCE");
    }
  }

 private:
  uint64_t Sku() { return random_.Below(5); }
  uint64_t Action() { return random_.Below(3); }
  std::string At(int64_t now_ms) {
    if (random_.Below(2) == 0) return "";
    return StrCat(" AT ", now_ms / 1000 + static_cast<int64_t>(random_.Below(90 * 24)) * 3600 -
                              int64_t{60} * 24 * 3600);
  }

  test::SeededRandom& random_;
};

std::string EverythingIn(CommandHarness& harness) {
  std::string text = harness.Run("QUOTA.LIMITS b 0 1 2 3 4");
  StrAppend(text, harness.Run("QUOTA.LEFTALL b 0 1 2 3"), harness.Run("EXISTS b"));
  for (int user = 0; user < 4; ++user) {
    StrAppend(text, harness.Run(StrCat("QUOTA.HISTORY b ", user).c_str()),
              harness.Run(StrCat("QUOTA.LEFT b ", user, " 0 1 2 3 4").c_str()));
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

}  // namespace
}  // namespace tally::server
