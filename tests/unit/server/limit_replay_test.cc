// LIMIT through its commands against lists of all events, and its log against its state.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "random_seed.h"
#include "server/command_harness.h"
#include "server/effect_follower.h"
#include "server/replay.h"

namespace tally::server::limit_replay_test {
namespace {

struct Event {
  int64_t at;
  int64_t cost;
};

struct RuleKind {
  std::string_view word;
  std::string_view period;
  int64_t period_ms;
};
constexpr RuleKind kKinds[] = {
    {"FIXED", "10s", 10'000}, {"SLIDING", "7s", 7'000}, {"CALENDAR", "minute", 60'000}};
constexpr size_t kKindCount = 3;

// The events that one rule of one key counts, in the order of their times.
struct Counted {
  std::vector<Event> events;

  int64_t In(const RuleKind& kind, int64_t now) const {
    int64_t count = 0;
    int64_t window_end = 0;
    for (const Event& event : events) {
      if (kind.word == "FIXED" && event.at >= window_end) {
        window_end = event.at + kind.period_ms;
        count = 0;
      }
      const bool inside = kind.word == "FIXED"     ? true
                          : kind.word == "SLIDING" ? event.at > now - kind.period_ms
                                                   : event.at / 60'000 == now / 60'000;
      if (inside) count += event.cost;
    }
    return kind.word == "FIXED" && now >= window_end ? 0 : count;
  }
  void Give(const RuleKind& kind, int64_t n, int64_t now) {
    n = std::min(n, In(kind, now));
    while (n > 0) {
      const int64_t taken = std::min(n, events.back().cost);
      events.back().cost -= taken;
      n -= taken;
      if (events.back().cost == 0) events.pop_back();
    }
  }
};

using Model = std::map<std::string, std::array<Counted, kKindCount>>;

// A command over one or two keys, and what the model says of it.
struct Trial {
  std::string words;
  bool allowed = true;
  int64_t remaining = INT64_MAX;
  int rule = 0;
  std::vector<Counted*> counted;
};

Trial RandomTrial(test::SeededRandom& random, Model& model, int64_t cost, int64_t now) {
  Trial trial;
  int place = 0;
  const uint64_t keys = 1 + random.Below(2);
  for (uint64_t k = 0; k < keys; ++k) {
    const std::string key = StrCat("k", random.Below(3));
    StrAppend(trial.words, k == 0 ? " " : " AND ", key);
    const uint64_t rules = 1 + random.Below(3);
    for (uint64_t r = 0; r < rules; ++r) {
      const size_t index = random.Below(kKindCount);
      const int64_t limit = random.Between(0, 8);
      Counted& own = model[key][index];
      StrAppend(trial.words, " ", kKinds[index].word, " ", limit, " ", kKinds[index].period);
      ++place;
      const int64_t room = limit - own.In(kKinds[index], now);
      const bool fits = limit > 0 && cost <= room;
      if (!fits && trial.allowed) {
        trial.allowed = false;
        trial.rule = place;
        trial.remaining = std::max<int64_t>(0, room);
      }
      if (trial.allowed) trial.remaining = std::min(trial.remaining, room - cost);
      trial.counted.push_back(&own);
    }
  }
  StrAppend(trial.words, " COST ", cost);
  std::sort(trial.counted.begin(), trial.counted.end());
  trial.counted.erase(std::unique(trial.counted.begin(), trial.counted.end()), trial.counted.end());
  return trial;
}

// The numbers of a flat reply.
std::vector<int64_t> Numbers(const std::string& reply) {
  std::vector<int64_t> numbers;
  for (size_t at = reply.find(':'); at != reply.npos; at = reply.find(':', at + 1)) {
    numbers.push_back(std::stoll(reply.substr(at + 1)));
  }
  return numbers;
}

std::string Instant(int64_t ms) {
  return StrCat(ms / 1000, ".", std::to_string(1000 + ms % 1000).substr(1));
}

constexpr std::string_view kRules[] = {"FIXED 5 10s",
                                       "SLIDING 5 7s",
                                       "ROLLING 6 9s",
                                       "BUCKET 4 3 5s",
                                       "BUCKET 7 1 5s",
                                       "BASE 1 4 8s TZ america/new_york",
                                       "CALENDAR 7 minute TZ Asia/Shanghai",
                                       "BASE 3 2 8s TZ America/New_York",
                                       "POLICY p",
                                       "SHADOW FIXED 0 3s",
                                       "SHADOW SLIDING 3 5s",
                                       "ALLOW"};

// A command over k0 to k3, and rarely also over k4, which is no limit. `step` makes an id its own.
std::string RandomWrite(test::SeededRandom& random, int64_t now, int step) {
  constexpr std::string_view kCommands[] = {"LIMIT.TAKE", "LIMIT.PEEK", "LIMIT.FORCE"};
  const auto rule = [&] { return StrCat(" ", kRules[random.Below(std::size(kRules))]); };
  const std::string key = StrCat(" k", random.Below(4));
  const std::string at =
      random.OneIn(3) ? StrCat(" AT ", Instant(now - random.Between(-2'000, 12'000))) : "";
  if (random.OneIn(10)) return StrCat("LIMIT.GIVE", key, " ", random.Between(0, 3), at);
  if (random.OneIn(50)) return StrCat("LIMIT.RESET", key);
  if (random.OneIn(40)) {
    return StrCat("POLICY.SET p SLIDING ", random.Between(1, 9), " ", random.Between(1, 20), "s");
  }
  if (random.OneIn(10)) {
    return StrCat("PEXPIREAT", key, " ", now + random.Between(1'000, 20'000));
  }
  if (random.OneIn(10)) {
    return StrCat("LIMIT.RESERVE ", std::string(60, 'r'), step, " 2s", key, rule(), at);
  }
  if (random.OneIn(10)) return StrCat("CL.THROTTLE", key, " 5 10 20 ", random.Between(0, 3));
  return StrCat(kCommands[random.Below(3)], key, rule(), rule(), " AND k", random.Below(5), rule(),
                " COST ", random.Between(0, 3), at);
}

}  // namespace

TEST_CASE("LIMIT over several keys agrees with lists of all events") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  CommandHarness h;
  Model model;
  for (int step = 0; step < 6'000; ++step) {
    if (random.OneIn(2)) h.Advance(random.Between(0, 3'000));
    const int64_t now = h.now();
    if (random.OneIn(12)) {
      const std::string key = StrCat("k", random.Below(3));
      const int64_t n = random.Between(0, 3);
      h.Run(StrCat("LIMIT.GIVE ", key, " ", n));
      for (size_t i = 0; i < kKindCount; ++i) model[key][i].Give(kKinds[i], n, now);
      continue;
    }
    const int64_t cost = random.Between(1, 3);
    const Trial trial = RandomTrial(random, model, cost, now);
    constexpr std::string_view kCommands[] = {"LIMIT.TAKE", "LIMIT.PEEK", "LIMIT.FORCE"};
    const size_t command = random.Below(random.OneIn(5) ? 3 : 2);
    INFO(kCommands[command] << trial.words);
    const std::vector<int64_t> answer = Numbers(h.Run(StrCat(kCommands[command], trial.words)));
    REQUIRE(answer.size() == 6);
    REQUIRE(answer[0] == (trial.allowed ? 1 : 0));
    REQUIRE(answer[2] == trial.remaining);
    REQUIRE(answer[5] == trial.rule);
    if (command == 2 || (command == 0 && trial.allowed)) {
      for (Counted* counted : trial.counted) counted->events.push_back({now, cost});
    }
  }
}

TEST_CASE("the log of LIMIT replays at any later time to the same answers") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  CommandHarness h;
  std::vector<std::string> effects;
  const auto collect = [&] {
    for (std::string& line : h.Effects()) effects.push_back(std::move(line));
  };
  h.Run("POLICY.SET p FIXED 9 20s");
  h.Run("SET k4 text");
  for (int step = 0; step < 3'000; ++step) {
    if (random.OneIn(2)) h.Advance(random.OneIn(100) ? 100'000 : random.Between(0, 2'000));
    if (random.OneIn(200)) h.state.clock.Set(h.now() - random.Between(0, 20'000));
    h.Run(RandomWrite(random, h.now(), step));
    collect();
    if (step % 250 != 249) continue;
    CommandHarness copy;
    ReplayInto(copy, effects, h.now() + 10'000'000'000);
    copy.state.clock.Set(h.now());
    for (int key_number = 0; key_number < 4; ++key_number) {
      for (const std::string_view question : {"PTTL k", "LIMIT.SHOW k", "LIMIT.HELD k"}) {
        REQUIRE(copy.Run(StrCat(question, key_number)) == h.Run(StrCat(question, key_number)));
      }
      for (const std::string_view rule : kRules) {
        for (int64_t cost = 0; cost < 8; ++cost) {
          const std::string question =
              StrCat("LIMIT.PEEK k", key_number, " ", rule, " COST ", cost);
          INFO(question);
          REQUIRE(copy.Run(question) == h.Run(question));
        }
      }
    }
    collect();
  }
}

TEST_CASE("A refused hit stores no key but those that it has set back") {
  CommandHarness h;
  EffectFollower follower(h);
  h.Run("LIMIT.TAKE ahead FIXED 1 1h");
  h.state.clock.Set(h.now() - 10'000);
  h.Run("LIMIT.TAKE shown FIXED 9 1h");
  const std::string deadline = StrCat(h.now() + 20'000);
  h.Run(StrCat("PEXPIREAT shown ", deadline));
  SECTION("nor one whose rule in SHADOW would have refused") {
    CHECK(h.Run("LIMIT.TAKE ahead FIXED 1 1h AND shown SHADOW FIXED 0 1h").starts_with("[:0"));
  }
  SECTION("nor one whose rule would have let it pass") {
    CHECK(h.Run("LIMIT.TAKE ahead FIXED 1 1h AND shown FIXED 5 1h").starts_with("[:0"));
  }
  CHECK(h.Run("PEXPIRETIME shown") == StrCat(":", deadline));
  CHECK(follower.Run(0, {"PEXPIRETIME", "shown"}) == StrCat(":", deadline));
  CHECK(follower.Run(0, {"PEXPIRETIME", "ahead"}) == h.Run("PEXPIRETIME ahead"));
}

TEST_CASE("A hit that the type of another key refuses leaves the holds that have ended") {
  CommandHarness h;
  EffectFollower follower(h);
  h.Run("SET text 1");
  for (int i = 0; i < 5; ++i) {
    h.Run(StrCat("LIMIT.RESERVE ", std::string(60, 'r'), i, " 1s held FIXED 9 1h"));
  }
  const int64_t before_ms = h.now();
  h.Advance(2'000);
  CHECK(h.Run("LIMIT.TAKE held FIXED 9 1h AND text FIXED 9 1h").starts_with("-WRONGTYPE"));
  h.state.clock.Set(before_ms);
  const std::string held = h.Run("LIMIT.HELD held");
  CHECK(held.find(std::string(60, 'r') + "4") != held.npos);
  CHECK(follower.Run(0, {"LIMIT.HELD", "held"}) == held);
}

}  // namespace tally::server::limit_replay_test
