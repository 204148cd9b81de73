// SHADOW: a rule that is judged and counted and never denies. Each is compared with the same rule
// in force on a key of its own, which gets what the shadow's key has allowed.
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/engine/limits.h"
#include "core/engine/reservations.h"
#include "core/limit/rule_text.h"
#include "core/tzdata/tzdata_zones.h"
#include "random_seed.h"
#include "scale.h"

namespace tally::shadow_test {
namespace {

constexpr int64_t kBegin = 1'700'000'000'000;
// The key whose rules are in SHADOW, the key with only those in force, and one key for each shadow.
constexpr std::string_view kBoth = "both";
constexpr std::string_view kForce = "force";
constexpr std::array<std::string_view, 2> kTwins{"twin:1", "twin:2"};
constexpr std::array<std::string_view, 4> kIds{"1", "2", "3", "4"};

class ShadowRun {
 public:
  ShadowRun() : engine_(zones_) {}

  void Step() {
    if (!random_.OneIn(3)) now_ += random_.Between(0, random_.OneIn(9) ? 90'000 : 3'000);
    if (both_.empty() || random_.OneIn(60)) Choose();
    switch (random_.Below(12)) {
      case 0:
        return Give();
      case 1:
        return Extend();
      case 2:
      case 3:
        return Settle();
      case 4:
      case 5:
        return Reserve();
      default:
        return Take();
    }
  }
  uint64_t seed() const { return random_.seed(); }
  size_t denied() const { return denied_; }

 private:
  Place Here() { return {engine_, 0, now_}; }

  LimitRule RandomRule() {
    constexpr std::array<int64_t, 3> kPeriods{700, 7'000, 60'000};
    const int64_t period = kPeriods[random_.Below(kPeriods.size())];
    const int64_t limit = random_.Between(random_.OneIn(20) ? 0 : 1, 12);
    switch (random_.Below(6)) {
      case 0:
        return LimitRule::Fixed(limit, period);
      case 1:
        return LimitRule::Rolling(limit, period);
      case 2:
        return LimitRule::Calendar(limit, CalendarUnit::kMinute, zones_.utc());
      case 3:
        return LimitRule::Bucket(limit, random_.Between(1, 5), period);
      case 4:
        return LimitRule::Base(random_.Between(0, 6), random_.Between(0, 4), period, zones_.utc());
      default:
        return LimitRule::Sliding(limit, period);
    }
  }

  // Other rules, on keys that are empty: rules that share a counter are not one rule in force.
  void Choose() {
    for (const std::string_view key : {kBoth, kForce, kTwins[0], kTwins[1]}) {
      Limits(Here()).Reset(key);
    }
    force_ = {RandomRule()};
    do {
      twins_ = {RandomRule(), RandomRule()};
    } while (LimitKey::Of(twins_[0]) == LimitKey::Of(twins_[1]));
    both_ = force_;
    for (LimitRule shadow : twins_) {
      shadow.shadow = true;
      both_.insert(random_.OneIn(2) ? both_.begin() : both_.end(), shadow);
    }
  }

  // The place of a shadow among the rules of both.
  uint64_t BitOf(size_t twin) const {
    uint64_t bit = 1;
    for (const LimitRule& rule : both_) {
      LimitRule plain = rule;
      plain.shadow = false;
      if (rule.shadow && RuleText(plain) == RuleText(twins_[twin])) return bit;
      bit <<= 1;
    }
    return 0;
  }

  void RequireSame(LimitDecision decision, LimitDecision force) {
    INFO(RuleText(both_[0]) << ", " << RuleText(both_[1]) << ", " << RuleText(both_[2]));
    decision.shadow_denied = 0;
    force.rule = decision.rule > 0 ? decision.rule : 0;
    REQUIRE(decision == force);
  }

  LimitResult Ask(std::string_view key, std::span<const LimitRule> rules, int64_t cost, int64_t at,
                  LimitMode mode) {
    const KeyRules keys[] = {{key, rules}};
    return Limits(Here()).Decide({.keys = keys, .cost = cost, .time = {at, now_}}, mode);
  }

  void Take() {
    const int64_t cost = random_.Between(0, 4);
    const int64_t at = random_.OneIn(8) ? now_ - random_.Between(0, 70'000) : now_;
    const bool forced = random_.OneIn(20);
    const LimitMode mode = forced ? LimitMode::kForce : LimitMode::kTake;
    const LimitDecision decision = Ask(kBoth, both_, cost, at, mode).decision;
    RequireSame(decision, Ask(kForce, force_, cost, at, mode).decision);
    for (size_t i = 0; i < kTwins.size(); ++i) {
      const bool counts = forced || decision.allowed;
      const LimitResult twin =
          Ask(kTwins[i], {&twins_[i], 1}, cost, at, counts ? mode : LimitMode::kPeek);
      RequireTwin(i, decision, twin.decision.allowed);
    }
  }

  void RequireTwin(size_t twin, const LimitDecision& decision, bool allowed) {
    INFO(RuleText(twins_[twin]) << " at " << now_ - kBegin);
    REQUIRE(((decision.shadow_denied & BitOf(twin)) == 0) == allowed);
    denied_ += allowed ? 0 : 1;
  }

  HoldResult Hold(std::string_view id, std::string_view key, std::span<const LimitRule> rules,
                  int64_t cost) {
    const KeyRules keys[] = {{key, rules}};
    return Reservations(Here()).Reserve(
        {.id = id,
         .ttl_ms = 20'000,
         .limits = {.keys = keys, .cost = cost, .time = EventInstants::Now(now_)}});
  }

  void Reserve() {
    const std::string_view id = kIds[random_.Below(kIds.size())];
    const int64_t cost = random_.Between(1, 4);
    const HoldResult both = Hold(id, kBoth, both_, cost);
    const HoldResult force = Hold(id, kForce, force_, cost);
    REQUIRE(both.settled_as == force.settled_as);
    REQUIRE(both.wrong == force.wrong);
    if (both.settled_as != HoldState::kUnknown || !both.wrong.empty()) return;
    RequireSame(both.decision, force.decision);
    if (!both.counted) return;
    for (size_t i = 0; i < kTwins.size(); ++i) {
      const HoldResult twin = Hold(id, kTwins[i], {&twins_[i], 1}, cost);
      if (twin.settled_as != HoldState::kUnknown || !twin.wrong.empty()) continue;
      RequireTwin(i, both.decision, twin.decision.allowed);
    }
  }

  // What a twin did not hold it does not know.
  void Settle() {
    const std::string_view id = kIds[random_.Below(kIds.size())];
    const bool cancels = random_.OneIn(2);
    const int64_t cost = random_.Between(0, 6);
    const bool late = random_.OneIn(3);
    const bool keep = random_.OneIn(3);
    Settled first;
    for (const std::string_view key : {kBoth, kForce, kTwins[0], kTwins[1]}) {
      const KeyRules keys[] = {{key, {}}};
      const SettleResult result =
          cancels ? Reservations(Here()).Cancel(id, keys, now_)
                  : Reservations(Here()).Commit(
                        {.id = id, .keys = keys, .cost = cost, .late = late, .keep = keep}, now_);
      if (key == kBoth) first = result.settled;
      if (key == kForce) REQUIRE(result.settled.found == first.found);
      if (key == kForce) REQUIRE(result.settled.held == first.held);
    }
  }

  void Extend() {
    const std::string_view id = kIds[random_.Below(kIds.size())];
    bool counted = false;
    for (const std::string_view key : {kBoth, kForce, kTwins[0], kTwins[1]}) {
      const KeyRules keys[] = {{key, {}}};
      const HoldResult result = Reservations(Here()).Extend(
          {.id = id,
           .ttl_ms = 30'000,
           .limits = {.keys = keys, .cost = 0, .time = EventInstants::Now(now_)}});
      if (key == kBoth) counted = result.counted;
      if (key == kForce) REQUIRE(result.counted == counted);
    }
  }

  void Give() {
    const int64_t count = random_.Between(0, 3);
    for (const std::string_view key : {kBoth, kForce, kTwins[0], kTwins[1]}) {
      Limits(Here()).Give(key, count, now_, kMaxInstantMs);
    }
  }

  TzdataZones zones_;
  Engine engine_;
  test::SeededRandom random_;
  int64_t now_ = kBegin;
  std::vector<LimitRule> both_;
  std::vector<LimitRule> force_;
  std::vector<LimitRule> twins_;
  size_t denied_ = 0;
};

TEST_CASE("SHADOW: says what the rule in force would have denied, and changes no other",
          "[shadow]") {
  ShadowRun run;
  INFO("TALLY_SEED=" << run.seed());
  for (uint64_t steps = test::Scaled(60'000); steps > 0; --steps) run.Step();
  CHECK(run.denied() > 1'000);
}

// A decision over one key.
LimitDecision Take(Engine& engine, std::string_view key, const std::vector<LimitRule>& rules,
                   LimitMode mode = LimitMode::kTake) {
  const KeyRules keys[] = {{key, rules}};
  return Limits({engine, 0, kBegin})
      .Decide({.keys = keys, .time = EventInstants::Now(kBegin)}, mode)
      .decision;
}

LimitRule Shadow(LimitRule rule) {
  rule.shadow = true;
  return rule;
}

TEST_CASE("SHADOW: its figures are told to nobody, and rules after the 64th never deny",
          "[shadow]") {
  TzdataZones zones;
  Engine engine(zones);
  const LimitRule one = Shadow(LimitRule::Fixed(1, 60'000));
  LimitDecision decision = Take(engine, "k", {one});
  CHECK(decision == LimitDecision{});
  decision = Take(engine, "k", {one, LimitRule::Fixed(9, 60'000), Shadow(LimitRule::Deny())});
  CHECK(decision.allowed);
  CHECK(decision.remaining == 8);
  CHECK(decision.shadow_denied == 0b101);
  std::vector<LimitRule> many(70, Shadow(LimitRule::Deny()));
  CHECK(Take(engine, "k", many).shadow_denied == UINT64_MAX);
  // A counter of its own, beside that of the same rule in force.
  std::vector<LimitShown> shown;
  Limits({engine, 0, kBegin}).Show("k", shown);
  REQUIRE(shown.size() == 2);
  CHECK_FALSE(shown[0].key.shadow);
  CHECK(shown[1].key.shadow);
  CHECK(shown[1].used == 1);
}

TEST_CASE("SHADOW: nothing is kept for a key of which each rule would have denied", "[shadow]") {
  TzdataZones zones;
  Engine engine(zones);
  CHECK(Take(engine, "k", {Shadow(LimitRule::Fixed(0, 60'000))}).allowed);
  CHECK_FALSE(engine.database(0).Find("k", kBegin));
  CHECK(Take(engine, "k", {Shadow(LimitRule::Fixed(0, 60'000))}, LimitMode::kForce).allowed);
  CHECK(engine.database(0).Find("k", kBegin));
}

TEST_CASE("CONCURRENT in SHADOW: what it would not have held it does not count", "[shadow]") {
  TzdataZones zones;
  Engine engine(zones);
  const LimitRule rules[] = {Shadow(LimitRule::Concurrent(1)), LimitRule::Concurrent(3)};
  const KeyRules keys[] = {{"k", rules}};
  const auto reserve = [&](std::string_view id) {
    return Reservations({engine, 0, kBegin})
        .Reserve({.id = id,
                  .ttl_ms = 1'000,
                  .limits = {.keys = keys, .time = EventInstants::Now(kBegin)}})
        .decision;
  };
  const KeyRules key[] = {{"k", {}}};
  CHECK(reserve("a").shadow_denied == 0);
  CHECK(reserve("b").shadow_denied == 1);
  CHECK(reserve("c").shadow_denied == 1);
  CHECK_FALSE(reserve("d").allowed);
  Reservations({engine, 0, kBegin}).Cancel("b", key, kBegin);
  CHECK(reserve("e").shadow_denied == 1);
  Reservations({engine, 0, kBegin}).Cancel("a", key, kBegin);
  CHECK(reserve("f").shadow_denied == 0);
}

}  // namespace
}  // namespace tally::shadow_test
