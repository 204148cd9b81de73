// The limit algorithms against models that keep every hit and count anew each time.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/limit/limit.h"
#include "core/time/duration.h"
#include "random_seed.h"

namespace tally {
namespace {

struct Event {
  int64_t at;
  int64_t cost;
};

// Hits that count against the rule at `e`, from the list of all that were taken.
int64_t CountedAt(const LimitRule& rule, const std::vector<Event>& events, int64_t e) {
  int64_t count = 0;
  if (rule.algorithm == LimitAlgorithm::kSliding) {
    for (const Event& event : events) count += e - rule.period_ms < event.at ? event.cost : 0;
    return count;
  }
  if (rule.algorithm == LimitAlgorithm::kCalendar) {
    const Period period = PeriodContaining(e, rule.unit, rule.week_start, rule.zone->time_zone());
    for (const Event& event : events) count += period.Contains(event.at) ? event.cost : 0;
    return count;
  }
  // FIXED: windows follow one another in the order of arrival.
  int64_t end = 0;
  int64_t latest = 0;
  for (const Event& event : events) {
    latest = std::max(latest, event.at);
    if (latest >= end) {
      end = event.at + rule.period_ms;
      count = 0;
    }
    count += event.cost;
  }
  return e < end ? count : 0;
}

LimitDecision DecideOne(LimitState& state, const LimitRule& rule, int64_t cost, int64_t now,
                        int64_t at, LimitMode mode) {
  const LimitUse use{&state, {&rule, 1}};
  return DecideLimits({&use, 1}, cost, now, at, mode);
}

// What holds for every algorithm: when a denied cost fits, and when a rule is unused again.
void RequireTruthful(LimitState& state, const LimitRule& rule, const LimitDecision& decision,
                     int64_t cost, int64_t e) {
  const auto peek = [&](int64_t when, int64_t peeked_cost) {
    return DecideOne(state, rule, peeked_cost, when, when, LimitMode::kPeek);
  };
  if (decision.retry_after_ms > 0) {
    REQUIRE(peek(e + decision.retry_after_ms, cost).allowed);
    REQUIRE_FALSE(peek(e + decision.retry_after_ms - 1, cost).allowed);
  }
  if (decision.reset_after_ms > 0 && decision.limit > 0 && state.ExpiresAt() > e) {
    const int64_t unused = state.ExpiresAt();
    // A rule of which one hit is left but for a part has as much remaining as one unused.
    REQUIRE(peek(unused, 1).remaining == decision.limit - 1);
    REQUIRE(peek(unused - 1, 0).reset_after_ms == 1);
  }
  if (decision.remaining > 0 && decision.allowed) REQUIRE(peek(e, decision.remaining).allowed);
  if (decision.allowed) REQUIRE_FALSE(peek(e, decision.remaining + 1).allowed);
}

void RequireSameAfterReload(LimitState& state) {
  std::string bytes;
  for (uint64_t cursor = 0;;) {
    cursor = state.Save(cursor, 7, bytes);
    if (cursor == 0) break;
  }
  LimitState loaded;
  REQUIRE(loaded.Load(bytes));
  REQUIRE(loaded.ExpiresAt() == state.ExpiresAt());
  std::string again;
  loaded.Encode(again);
  std::string whole;
  state.Encode(whole);
  REQUIRE(again == whole);
  state = std::move(loaded);
}

TEST_CASE("FIXED, SLIDING and CALENDAR count as a list of all hits does, late hits included") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Zone zone = *Zone::Load("Australia/Lord_Howe");
  // The half-hour change back of April 2026 lies within the time that passes.
  const int64_t start = 1'775'300'000'000;
  const std::vector<LimitRule> rules{LimitRule::Fixed(5, 900'000), LimitRule::Sliding(5, 900'000),
                                     LimitRule::Calendar(5, CalendarUnit::kHour, zone)};
  for (LimitRule rule : rules) {
    LimitState state;
    std::vector<Event> events;
    int64_t now = start;
    for (int step = 0; step < 1'500; ++step) {
      // Often to the edge of a window.
      if (random.OneIn(4) && state.ExpiresAt() > now) {
        now = state.ExpiresAt() - random.Between(0, 1);
      } else {
        now += random.Between(0, 200'000);
      }
      // FIXED with late hits has no list to compare with but its own rule; the others have.
      const bool late = rule.algorithm != LimitAlgorithm::kFixed && random.OneIn(4);
      const int64_t at = late ? now - random.Between(0, 2'000'000) : now;
      const int64_t cost = random.Between(1, 3);
      rule.limit = random.Between(1, 8);
      const auto mode = static_cast<LimitMode>(random.Below(3));
      const int64_t counted = CountedAt(rule, events, now);
      const LimitDecision decision = DecideOne(state, rule, cost, now, at, mode);
      INFO("step " << step << " algorithm " << static_cast<int>(rule.algorithm));
      REQUIRE(decision.allowed == (counted + cost <= rule.limit));
      const int64_t shown = counted + (decision.allowed ? cost : 0);
      REQUIRE(decision.remaining == std::max<int64_t>(0, rule.limit - shown));
      REQUIRE((decision.retry_after_ms == -1) == (cost > rule.limit));
      if (mode == LimitMode::kForce || (mode == LimitMode::kTake && decision.allowed)) {
        events.push_back({at, cost});
      }
      // What the answer says holds for the state that it tells of.
      const bool told = decision.allowed ? mode != LimitMode::kPeek : mode != LimitMode::kForce;
      if (told && !late) RequireTruthful(state, rule, decision, cost, now);
      if (random.OneIn(10)) RequireSameAfterReload(state);
    }
  }
}

TEST_CASE("SLIDING never lets more than the limit into any window") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  LimitState state;
  const LimitRule rule = LimitRule::Sliding(7, 1'000);
  std::vector<int64_t> taken;
  int64_t now = 1'000'000;
  for (int i = 0; i < 4'000; ++i) {
    now += random.Between(0, 150);
    if (DecideOne(state, rule, 1, now, now, LimitMode::kTake).allowed) taken.push_back(now);
  }
  REQUIRE(taken.size() > 1'000);
  for (size_t i = 7; i < taken.size(); ++i) REQUIRE(taken[i] - taken[i - 7] >= 1'000);
}

TEST_CASE("BUCKET counts as a bucket that is filled each millisecond does") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  const int64_t period = 1'000;
  LimitRule rule = LimitRule::Bucket(10, 7, period);
  LimitState state;
  int64_t missing = 0;  // in 1/period of a token
  int64_t now = 1'000'000;
  for (int step = 0; step < 4'000; ++step) {
    int64_t passing = random.Between(0, 500);
    if (random.OneIn(4) && state.ExpiresAt() > now) {
      passing = std::max<int64_t>(0, state.ExpiresAt() - now - random.Between(0, 1));
    }
    for (; passing > 0; --passing, ++now) missing = std::max<int64_t>(0, missing - rule.refill);
    const int64_t cost = random.Between(1, 4);
    if (random.OneIn(10)) rule.limit = random.Between(4, 12);
    const bool fits = missing + cost * period <= rule.limit * period;
    const LimitDecision decision = DecideOne(state, rule, cost, now, now, LimitMode::kTake);
    INFO("step " << step);
    REQUIRE(decision.allowed == fits);
    if (fits) missing += cost * period;
    REQUIRE(decision.remaining == std::max<int64_t>(0, rule.limit * period - missing) / period);
    REQUIRE(decision.reset_after_ms == (missing + rule.refill - 1) / rule.refill);
    RequireTruthful(state, rule, decision, cost, now);
    if (random.OneIn(10)) RequireSameAfterReload(state);
  }
}

TEST_CASE("ROLLING weighs aligned windows as a list of all hits does") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  const int64_t period = 997;
  LimitRule rule = LimitRule::Rolling(10, period);
  LimitState state;
  std::vector<Event> events;
  int64_t now = 10'000'000;
  for (int step = 0; step < 3'000; ++step) {
    now += random.OneIn(5) ? period - now % period : random.Between(0, 400);
    rule.limit = random.Between(3, 12);
    const int64_t cost = random.Between(1, 3);
    int64_t weighted = 0;
    for (const Event& event : events) {
      if (event.at / period == now / period) weighted += event.cost * period;
      if (event.at / period == now / period - 1) {
        weighted += event.cost * (period - now % period);
      }
    }
    const bool fits = weighted + cost * period <= rule.limit * period;
    const bool late = random.OneIn(4);
    const int64_t at = late ? now - random.Between(0, 2 * period) : now;
    const LimitDecision decision = DecideOne(state, rule, cost, now, at, LimitMode::kTake);
    INFO("step " << step);
    REQUIRE(decision.allowed == fits);
    if (fits && at > now - period) events.push_back({at, cost});
    if (!late) RequireTruthful(state, rule, decision, cost, now);
    if (random.OneIn(10)) RequireSameAfterReload(state);
  }
}

TEST_CASE("BASE counts as the day's counter and the window's counter of the original do") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Zone zone = *Zone::Load("Europe/Berlin");
  const int64_t period = 7'200'000;
  LimitRule rule = LimitRule::Base(4, 3, period, zone);
  LimitState state;
  int64_t now = 1'774'000'000'000;
  int64_t day_end = 0;
  int64_t day_hits = 0;
  int64_t window_end = 0;
  int64_t window_hits = 0;
  for (int step = 0; step < 3'000; ++step) {
    now += random.Between(0, 3'000'000);
    if (random.OneIn(8)) now = zone.Containing(now, CalendarUnit::kDay).end_ms - 1;
    if (now >= day_end) {
      day_end = zone.Containing(now, CalendarUnit::kDay).end_ms;
      day_hits = 0;
    }
    if (now >= window_end) window_hits = 0;
    rule.limit = random.Between(1, 4);
    const bool fits = !(day_hits >= rule.base && window_hits >= rule.limit);
    const LimitDecision decision = DecideOne(state, rule, 1, now, now, LimitMode::kTake);
    INFO("step " << step);
    REQUIRE(decision.allowed == fits);
    if (fits && ++day_hits >= rule.base && window_hits++ == 0) window_end = now + period;
    RequireTruthful(state, rule, decision, 1, now);
    if (random.OneIn(10)) RequireSameAfterReload(state);
  }
}

TEST_CASE("malformed state is refused, never believed") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Zone zone = *Zone::Load("Asia/Shanghai");
  LimitState state;
  const int64_t now = 1'700'000'000'000;
  const std::vector<LimitRule> rules{
      LimitRule::Fixed(9, 1'000),       LimitRule::Sliding(9, 1'500),
      LimitRule::Rolling(9, 1'000),     LimitRule::Bucket(9, 2, 1'000),
      LimitRule::Base(1, 9, 500, zone), LimitRule::Calendar(9, CalendarUnit::kWeek, zone)};
  const LimitUse use{&state, rules};
  REQUIRE(DecideLimits({&use, 1}, 2, now, now, LimitMode::kTake).allowed);
  std::string bytes;
  state.Encode(bytes);
  for (int i = 0; i < 20'000; ++i) {
    std::string broken = bytes.substr(0, random.Below(bytes.size() + 1));
    for (uint64_t flips = random.Below(4); flips > 0 && !broken.empty(); --flips) {
      broken[random.Below(broken.size())] = static_cast<char>(random.Next());
    }
    LimitState loaded;
    if (!loaded.Load(broken)) continue;
    // Whatever was believed can be used.
    const LimitUse loaded_use{&loaded, rules};
    DecideLimits({&loaded_use, 1}, 1, now, now, LimitMode::kForce);
    loaded.Give(3, now, now);
    loaded.ExpiresAt();
  }
}

}  // namespace
}  // namespace tally
