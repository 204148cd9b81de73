#include "core/limit/hold_rules.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/time/zone_source.h"

namespace tally::hold_rules_test {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;
const LimitRule kMinute = LimitRule::Fixed(10, 60'000);
const LimitRule kHour = LimitRule::Sliding(100, 3'600'000);

std::string Saved(const std::vector<LimitRule>& rules) {
  std::string saved;
  AppendHoldRules(saved, rules, kNow);
  return saved;
}

LimitRule InShadow(LimitRule rule) {
  rule.shadow = true;
  return rule;
}

TEST_CASE("rules are saved in the order in which they are judged: those in SHADOW, then HOLDS") {
  const LimitRule shadow = InShadow(kHour);
  const LimitRule holds = LimitRule::Holds(90'000, 500);
  CHECK(Saved({holds, shadow, kMinute}) == Saved({kMinute, shadow, holds}));
  HoldCounters counters;
  REQUIRE(ReadHoldCounters(Saved({holds, shadow, kMinute}), counters));
  CHECK(counters.keys == HoldKeys{LimitKey::Of(kMinute), LimitKey::Of(shadow)});
  CHECK(counters.denying_bytes == Saved({kMinute}).size());
  CHECK(counters.counting_bytes == Saved({kMinute, shadow}).size());
}

TEST_CASE("what HOLDS allows is read of these rules, and goes back with the clock") {
  std::string rules = Saved({kMinute});
  CHECK(LatestDeadline(rules) == kMaxHoldEndMs);
  rules = Saved({kMinute, LimitRule::Holds(90'000, 500), LimitRule::Holds(80'000, 1'000)});
  CHECK(LatestDeadline(rules) == kNow + 80'000);
  SetBackLatest(rules, 5'000);
  CHECK(LatestDeadline(rules) == kNow + 75'000);
  SetBackLatest(rules, kNow * 2);
  CHECK(LatestDeadline(rules) == 0);
}

TEST_CASE("one reader reads the counters of any rules, whatever it has read before") {
  HoldCountersReader reader;
  const std::vector<std::string> all = {
      Saved({kMinute}),
      Saved({kMinute, LimitRule::Holds(90'000, 500)}),
      Saved({kMinute, kHour}),
      Saved({LimitRule::Concurrent(3)}),
      Saved({LimitRule::Holds(90'000, 500)}),
      Saved({kMinute, InShadow(LimitRule::Concurrent(3))}),
      "",
  };
  for (const std::string& before : all) {
    for (const std::string& rules : all) {
      HoldCounters expected;
      REQUIRE(ReadHoldCounters(rules, expected));
      static_cast<void>(reader.Of(before));
      CHECK(reader.Of(rules) == expected);
    }
  }
}

// A reader takes rules that begin as others do, and go on with HOLDS, for the same.
TEST_CASE("rules with anything after HOLDS are malformed") {
  HoldCounters counters;
  CHECK(ReadHoldCounters(Saved({LimitRule::Holds(1'000, 1)}) + Saved({LimitRule::Holds(9, 1)}),
                         counters));
  for (const LimitRule& rule : {kMinute, LimitRule::Concurrent(3), InShadow(kHour)}) {
    const std::string rules = Saved({kMinute, LimitRule::Holds(90'000, 500)}) + Saved({rule});
    CHECK_FALSE(ReadHoldCounters(rules, counters));
  }
}

// What is accepted when it is loaded is read again when the hold ends.
TEST_CASE("rules are well formed without zones if and only if they are with them") {
  UtcOnly zones;
  for (const std::string name : {"UTC", "+08:00", "Asia/Shanghai", "Asia/Sh\nghai", "+99:00", ""}) {
    INFO(name);
    Zone* zone = zones.FindStored("Some/Zone");  // which this source lacks
    std::string rules = Saved({LimitRule::Calendar(1, CalendarUnit::kDay, *zone)});
    const size_t place = rules.find("Some/Zone");
    REQUIRE(place != std::string::npos);
    rules.replace(place - 1, 10, std::string(1, static_cast<char>(name.size())) + name);
    HoldCounters counters;
    HoldRules read;
    const bool is_zone = zones.FindStored(name) != nullptr;
    CHECK(ReadHoldCounters(rules, counters) == is_zone);
    CHECK(ReadHoldRules(rules, zones, read) == is_zone);
  }
}

}  // namespace
}  // namespace tally::hold_rules_test
