// A log of QUOTA commands gives the same book at any later time.
#include <string>
#include <vector>

#include "tests/unit/random_seed.h"
#include "tests/unit/scale.h"
#include "tests/unit/server/command_harness.h"
#include "tests/unit/server/effect_follower.h"
#include "tests/unit/server/replay.h"

namespace tally::server::quota_replay_test {
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
        if (random_.OneIn(2)) return StrCat("QUOTA.CONFIRM b ", user, " ", Order());
        return StrCat("QUOTA.RETURN b ", user, " ", Order(), " ITEMS ", Sku(), " ",
                      1 + random_.Below(3), At(now_ms), random_.Below(2) == 0 ? "" : " ONCE");
      default:
        return StrCat(random_.Below(2) == 0 ? "QUOTA.BUY" : "QUOTA.RECORD", " b ", user, " ",
                      Order(), " ITEMS ", Sku(), " ", Action(), " ", 1 + random_.Below(3), " ",
                      Sku(), " ", Action(), " 1", At(now_ms), random_.Below(2) == 0 ? "" : " ONCE",
                      Hold());
    }
  }

 private:
  std::string User() { return kUsers[random_.Below(kUsers.size())]; }
  std::string Sku() { return kSkus[random_.Below(kSkus.size())]; }
  std::string Action() { return kActions[random_.Below(kActions.size())]; }
  std::string Order() { return StrCat(random_.OneIn(3) ? "0" : "", random_.Below(20)); }
  std::string Hold() {
    return random_.Below(3) == 0 ? StrCat(" HOLD ", 1 + random_.Below(48), "h") : "";
  }
  std::string At(int64_t now_ms) {
    if (random_.Below(2) == 0) return "";
    return StrCat(" AT ", now_ms / 1000 + static_cast<int64_t>(random_.Below(90 * 24)) * 3600 -
                              int64_t{60} * 24 * 3600);
  }

  test::SeededRandom& random_;
};

// `ask` replies to the words of a command.
template <typename Ask>
std::string EverythingIn(Ask&& ask) {
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  std::string text = StrCat(ask(with({"QUOTA.LIMITS", "b"}, kSkus)),
                            ask(with({"QUOTA.LEFTBYUSER", "b"}, kUsers)), ask({"EXISTS", "b"}));
  for (const std::string& user : kUsers) {
    StrAppend(text, ask({"QUOTA.HISTORY", "b", user}), ask(with({"QUOTA.LEFT", "b", user}, kSkus)));
  }
  return text;
}

std::string EverythingIn(CommandHarness& harness) {
  return EverythingIn([&](const std::vector<std::string>& words) { return harness.Run(words); });
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
        original.config.quota_retention_ms =
            static_cast<int64_t>(1 + random.Below(50)) * 24 * kHour;
      }
      if (random.Below(20) == 0) original.engine.SweepSome(original.now(), [] { return true; });
      original.Run(traffic.Next(original.now()).c_str());
    }
    CommandHarness replayed;
    const int64_t later = original.now() + static_cast<int64_t>(random.Below(100)) * 24 * kHour;
    ReplayInto(replayed, original.Effects(), later);
    replayed.state.clock.Set(original.now());
    replayed.config.quota_retention_ms = original.config.quota_retention_ms;
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

// A clock that is set back shows whatever bytes are still there. Users have few purchases or
// hundreds, and the clock is ahead for so long that what it makes old is deleted.
TEST_CASE("QUOTA: a follower frees what the server frees, so both show the same by any clock") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (uint64_t run = 0; run < test::Scaled(8); ++run) {
    CommandHarness server;
    server.config.quota_retention_ms = static_cast<int64_t>(1 + random.Below(20)) * 24 * kHour;
    EffectFollower follower(server);
    Traffic traffic(random);
    const int64_t begin_ms = server.now();
    const auto both_show_the_same = [&] {
      const auto ask = [&](const std::vector<std::string>& words) { return server.Run(words); };
      const auto ask_follower = [&](const std::vector<std::string>& words) {
        return follower.Run(0, words);
      };
      REQUIRE(EverythingIn(ask_follower) == EverythingIn(ask));
    };
    for (int i = 0; i < 150; ++i) {
      if (random.OneIn(8)) {
        server.Advance(static_cast<int64_t>(random.Below(40 * 24)) * kHour);
        server.Advance(random.Below(2) == 0 ? 1'000 : 120'000);  // see Clock::deletion_lag_ms()
      }
      if (random.OneIn(20)) {
        server.state.clock.Set(begin_ms + static_cast<int64_t>(random.Below(30 * 24)) * kHour);
      }
      if (random.OneIn(4)) server.engine.SweepSome(server.now(), [] { return true; });
      if (random.OneIn(20)) {
        for (int line = 0; line < 200; ++line) {
          server.Run(StrCat("QUOTA.RECORD b 1 ", 10 + line, " ITEMS 1 2 1 AT ",
                            (server.now() - random.Between(0, 20 * 24 * kHour)) / 1000));
        }
      }
      server.Run(traffic.Next(server.now()).c_str());
      if (random.OneIn(8)) both_show_the_same();
    }
    server.state.clock.Set(begin_ms);
    both_show_the_same();
  }
}

TEST_CASE("QUOTA: an order that is refused in a log leaves its retention, and nothing else") {
  CommandHarness harness;
  ReplayInto(harness,
             {"QUOTA.SETLIMIT b 7 0 3 30d NOW 1760000000000",
              "QUOTA.RECORD b 1 1 ITEMS 7 0 2 NOW 1760000000000",
              "QUOTA.BUY b 1 2 ITEMS 7 0 2 NOW 1760000001500 KEEP 5184000000"},
             1'760'000'100'000);
  REQUIRE(harness.Run("QUOTA.LEFT b 1 7") == R"([[["0" :1]]])");
  REQUIRE(harness.Run("QUOTA.HISTORY b 1") == R"([["1" "7" "0" :2 :1760000000000 :0]])");
  // With the default retention it would be gone by then.
  harness.config.quota_retention_ms = 60 * 24 * kHour;
  harness.state.clock.Set(1'760'000'000'000 + 59 * 24 * kHour);
  REQUIRE(harness.Run("QUOTA.HISTORY b 1") == R"([["1" "7" "0" :2 :1760000000000 :0]])");
}

}  // namespace
}  // namespace tally::server::quota_replay_test
