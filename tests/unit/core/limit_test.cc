#include "core/limit/limit.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "core/limit/limit_show.h"
#include "core/limit/throttle.h"
#include "core/time/duration.h"
#include "core/tzdata/tzdata_zones.h"

namespace tally::limit_test {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kT0 = 1'700'000'000'000;

LimitDecision Decide(LimitState& state, std::vector<LimitRule> rules, int64_t now,
                     LimitMode mode = LimitMode::kTake, int64_t cost = 1, int64_t at = -1) {
  for (const LimitRule& rule : rules) REQUIRE(ValidationError(rule).empty());
  const LimitUse use{&state, rules};
  return DecideLimits({&use, 1}, cost, now, at < 0 ? now : at, mode);
}

LimitDecision Allowed(int64_t limit, int64_t remaining, int64_t reset_after_ms) {
  return {.limit = limit, .remaining = remaining, .reset_after_ms = reset_after_ms};
}

LimitDecision Denied(int64_t limit, int64_t remaining, int64_t retry, int64_t reset, int rule) {
  return {.allowed = false,
          .limit = limit,
          .remaining = remaining,
          .retry_after_ms = retry,
          .reset_after_ms = reset,
          .rule = rule};
}

std::string Encoded(const LimitState& state) {
  std::string bytes;
  state.Encode(bytes);
  return bytes;
}

TEST_CASE("FIXED: the window opens at the first hit and its end never moves") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Fixed(3, 10'000)};
  CHECK(Decide(state, rules, kT0) == Allowed(3, 2, 10'000));
  CHECK(Decide(state, rules, kT0 + 4'000) == Allowed(3, 1, 6'000));
  CHECK(Decide(state, rules, kT0 + 9'000) == Allowed(3, 0, 1'000));
  CHECK(Decide(state, rules, kT0 + 9'999) == Denied(3, 0, 1, 1, 1));
  CHECK(state.ExpiresAt() == kT0 + 10'000);
  CHECK(Decide(state, rules, kT0 + 10'000) == Allowed(3, 2, 10'000));
}

TEST_CASE("SLIDING: at most the limit in any window, half open") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Sliding(2, 1'000)};
  CHECK(Decide(state, rules, kT0) == Allowed(2, 1, 1'000));
  CHECK(Decide(state, rules, kT0 + 600) == Allowed(2, 0, 1'000));
  CHECK(Decide(state, rules, kT0 + 999) == Denied(2, 0, 1, 601, 1));
  CHECK(Decide(state, rules, kT0 + 1'000) == Allowed(2, 0, 1'000));
  CHECK(Decide(state, rules, kT0 + 1'000) == Denied(2, 0, 600, 1'000, 1));
}

TEST_CASE("CALENDAR: the natural day of Asia/Shanghai") {
  Zone zone = *LoadZone("Asia/Shanghai");
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Calendar(2, CalendarUnit::kDay, zone)};
  const int64_t midnight = zone.Containing(kT0, CalendarUnit::kDay).end_ms;
  CHECK(Decide(state, rules, midnight - 5) == Allowed(2, 1, 5));
  CHECK(Decide(state, rules, midnight - 1) == Allowed(2, 0, 1));
  CHECK(Decide(state, rules, midnight - 1) == Denied(2, 0, 1, 1, 1));
  CHECK(state.ExpiresAt() == midnight);
  CHECK(Decide(state, rules, midnight) == Allowed(2, 1, 86'400'000));
}

TEST_CASE("CALENDAR: zones and units of one key are counted apart, week starts too") {
  Zone shanghai = *LoadZone("Asia/Shanghai");
  Zone utc;
  LimitState state;
  CHECK(Decide(state, {LimitRule::Calendar(1, CalendarUnit::kDay, shanghai)}, kT0).allowed);
  CHECK(Decide(state, {LimitRule::Calendar(1, CalendarUnit::kDay, utc)}, kT0).allowed);
  CHECK(Decide(state, {LimitRule::Calendar(1, CalendarUnit::kWeek, utc)}, kT0).allowed);
  CHECK(
      Decide(state, {LimitRule::Calendar(1, CalendarUnit::kWeek, utc, kSundayWeek)}, kT0).allowed);
  CHECK_FALSE(Decide(state, {LimitRule::Calendar(1, CalendarUnit::kDay, shanghai)}, kT0).allowed);
}

TEST_CASE("ROLLING: the hits of the window before leave one by one") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Rolling(10, 1'000)};
  for (int i = 0; i < 10; ++i) CHECK(Decide(state, rules, kT0 + 100).allowed);
  CHECK(Decide(state, rules, kT0 + 999) == Denied(10, 0, 101, 1'001, 1));
  // The first of the ten has left, and this one opens a window.
  CHECK(Decide(state, rules, kT0 + 1'100) == Allowed(10, 0, 1'000));
  CHECK(Decide(state, rules, kT0 + 1'150) == Denied(10, 0, 50, 950, 1));
  CHECK(state.ExpiresAt() == kT0 + 2'100);
  // Nothing was taken since: of this one hit and those before it none is left a period later.
  CHECK(Decide(state, rules, kT0 + 2'100, LimitMode::kPeek, 0) == Allowed(10, 10, 0));
}

TEST_CASE("ROLLING: who always asks gets the limit a period, and at most 2 x limit - 1 in one") {
  for (const int64_t limit : {1, 2, 3, 7, 10, 100, 999, 1'000, 1'001, 2'500}) {
    INFO("limit " << limit);
    LimitState state;
    const std::vector<LimitRule> rules{LimitRule::Rolling(limit, 1'000)};
    std::vector<int64_t> taken;
    for (int64_t now = kT0; now < kT0 + 20'000; ++now) {
      while (Decide(state, rules, now).allowed) taken.push_back(now);
    }
    // The clock has whole milliseconds, so that more than one of them at a time lose a little.
    const int64_t lost = limit > 1'000 ? 20 * (limit / 1'000) : 0;
    CHECK(static_cast<int64_t>(taken.size()) <= 20 * limit);
    CHECK(static_cast<int64_t>(taken.size()) >= 20 * limit - lost);
    const auto most = static_cast<size_t>(2 * limit - 1);
    for (size_t i = most; i < taken.size(); ++i) REQUIRE(taken[i] - taken[i - most] >= 1'000);
  }
}

TEST_CASE("BUCKET: refills at its rate and saves at most its capacity") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Bucket(3, 1, 1'000)};
  for (int i = 2; i >= 0; --i) CHECK(Decide(state, rules, kT0) == Allowed(3, i, (3 - i) * 1'000));
  CHECK(Decide(state, rules, kT0) == Denied(3, 0, 1'000, 3'000, 1));
  CHECK(Decide(state, rules, kT0 + 999) == Denied(3, 0, 1, 2'001, 1));
  CHECK(Decide(state, rules, kT0 + 1'000) == Allowed(3, 0, 3'000));
  CHECK(Decide(state, rules, kT0 + 90'000) == Allowed(3, 2, 1'000));
}

TEST_CASE("BUCKET: a rate that does not divide the period loses nothing") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Bucket(1, 7, 1'000)};
  int taken = 0;
  for (int64_t now = kT0; now < kT0 + 100'000; ++now) taken += Decide(state, rules, now).allowed;
  // A token every 143 ms, as the clock has whole milliseconds and nothing is saved beyond one.
  CHECK(taken == 100'000 / 143 + 1);
}

TEST_CASE("BASE: from the base-th hit of the day on, at most the limit a period") {
  Zone utc;
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Base(3, 2, 1'000, utc)};
  CHECK(Decide(state, rules, kT0).remaining == 3);
  CHECK(Decide(state, rules, kT0 + 1).remaining == 2);
  // The base-th hit opens the window and counts in it.
  CHECK(Decide(state, rules, kT0 + 2).remaining == 1);
  CHECK(Decide(state, rules, kT0 + 3).remaining == 0);
  const int64_t midnight = utc.Containing(kT0, CalendarUnit::kDay).end_ms;
  CHECK(Decide(state, rules, kT0 + 4) == Denied(4, 0, 998, midnight - kT0 - 4, 1));
  CHECK(Decide(state, rules, kT0 + 1'002).allowed);
  CHECK(Decide(state, rules, kT0 + 1'002).allowed);
  CHECK_FALSE(Decide(state, rules, kT0 + 1'002).allowed);
  CHECK(Decide(state, rules, midnight).remaining == 3);
}

TEST_CASE("ALLOW and DENY are constant and keep nothing") {
  LimitState state;
  CHECK(Decide(state, {LimitRule::Allow()}, kT0) == LimitDecision());
  CHECK(Decide(state, {LimitRule::Deny()}, kT0) == Denied(0, 0, -1, 0, 1));
  CHECK(Decide(state, {LimitRule::Allow(), LimitRule::Fixed(2, 1'000)}, kT0) ==
        Allowed(2, 1, 1'000));
  CHECK(Decide(state, {LimitRule::Fixed(2, 1'000), LimitRule::Deny()}, kT0) ==
        Denied(0, 0, -1, 0, 2));
  CHECK(Decide(state, {LimitRule::Fixed(2, 1'000)}, kT0).remaining == 0);
}

TEST_CASE("limits of 0 deny everything, at any cost") {
  Zone utc;
  LimitState state;
  for (const LimitRule& rule :
       {LimitRule::Fixed(0, 1'000), LimitRule::Sliding(0, 1'000), LimitRule::Rolling(0, 1'000),
        LimitRule::Bucket(0, 5, 1'000), LimitRule::Calendar(0, CalendarUnit::kYear, utc),
        LimitRule::Base(0, 0, 1'000, utc)}) {
    CHECK(Decide(state, {rule}, kT0) == Denied(0, 0, -1, 0, 1));
    CHECK_FALSE(Decide(state, {rule}, kT0, LimitMode::kTake, 0).allowed);
  }
  CHECK(state.empty());
}

TEST_CASE("a cost that can never fit is told by -1, one that fits later is not") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Fixed(3, 1'000)};
  CHECK(Decide(state, rules, kT0, LimitMode::kTake, 4) == Denied(3, 3, -1, 0, 1));
  CHECK(state.empty());
  CHECK(Decide(state, rules, kT0, LimitMode::kTake, 2).allowed);
  CHECK(Decide(state, rules, kT0, LimitMode::kTake, 2) == Denied(3, 1, 1'000, 1'000, 1));
  CHECK(Decide(state, rules, kT0, LimitMode::kTake, kMax) == Denied(3, 1, -1, 1'000, 1));
}

TEST_CASE("several keys: takes from every rule of every key, or from none") {
  LimitState user;
  LimitState site;
  const std::vector<LimitRule> user_rules{LimitRule::Fixed(2, 1'000), LimitRule::Fixed(5, 60'000)};
  const std::vector<LimitRule> site_rules{LimitRule::Sliding(1, 500)};
  const std::vector<LimitUse> uses{{&user, user_rules}, {&site, site_rules}};
  CHECK(DecideLimits(uses, 1, kT0, kT0, LimitMode::kTake) == Allowed(1, 0, 500));
  const std::string before = Encoded(user);
  // The third of all rules denies; the figures are its own.
  CHECK(DecideLimits(uses, 1, kT0, kT0, LimitMode::kTake) == Denied(1, 0, 500, 500, 3));
  CHECK(Encoded(user) == before);
  // Two deny: the first is named, the wait suffices for both.
  CHECK(DecideLimits(uses, 1, kT0 + 500, kT0 + 500, LimitMode::kTake).allowed);
  const LimitDecision both = DecideLimits(uses, 1, kT0 + 600, kT0 + 600, LimitMode::kTake);
  CHECK(both.rule == 1);
  CHECK(both.limit == 2);
  CHECK(both.retry_after_ms == 400);
}

TEST_CASE("tightest is the smallest remaining, the earliest of equals") {
  LimitState state;
  CHECK(Decide(state, {LimitRule::Fixed(9, 1'000), LimitRule::Fixed(5, 60'000)}, kT0) ==
        Allowed(5, 4, 60'000));
  LimitState other;
  CHECK(Decide(other, {LimitRule::Fixed(5, 1'000), LimitRule::Sliding(5, 60'000)}, kT0) ==
        Allowed(5, 4, 1'000));
}

TEST_CASE("PEEK gives the answer of TAKE and changes nothing") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Fixed(2, 1'000), LimitRule::Sliding(2, 1'000),
                                     LimitRule::Bucket(2, 1, 1'000)};
  for (int i = 0; i < 4; ++i) {
    const std::string before = Encoded(state);
    const LimitDecision peeked = Decide(state, rules, kT0 + i, LimitMode::kPeek);
    CHECK(Encoded(state) == before);
    CHECK(Decide(state, rules, kT0 + i) == peeked);
  }
}

TEST_CASE("FORCE takes where it is denied and answers as TAKE would have") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Fixed(1, 1'000)};
  CHECK(Decide(state, rules, kT0, LimitMode::kForce) == Allowed(1, 0, 1'000));
  CHECK(Decide(state, rules, kT0, LimitMode::kForce) == Denied(1, 0, 1'000, 1'000, 1));
  // Two were counted: a limit of 3 has one left, before this peek takes it.
  CHECK(Decide(state, {LimitRule::Fixed(3, 1'000)}, kT0, LimitMode::kPeek).remaining == 0);
}

TEST_CASE("a changed limit takes effect at once on the state that is there") {
  Zone utc;
  LimitState state;
  CHECK(Decide(state, {LimitRule::Fixed(5, 1'000)}, kT0, LimitMode::kTake, 4).allowed);
  CHECK_FALSE(Decide(state, {LimitRule::Fixed(4, 1'000)}, kT0).allowed);
  CHECK(Decide(state, {LimitRule::Fixed(9, 1'000)}, kT0).remaining == 4);
  CHECK(Decide(state, {LimitRule::Bucket(5, 1, 1'000)}, kT0, LimitMode::kTake, 4).allowed);
  CHECK(Decide(state, {LimitRule::Bucket(9, 2, 1'000)}, kT0).remaining == 4);
  CHECK(Decide(state, {LimitRule::Bucket(5, 2, 1'000)}, kT0) == Denied(5, 0, 500, 2'500, 1));
}

TEST_CASE("rules that differ only in their limit count one hit once") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Fixed(9, 1'000), LimitRule::Fixed(5, 1'000)};
  const std::vector<LimitUse> uses{{&state, rules}, {&state, rules}};
  CHECK(DecideLimits(uses, 1, kT0, kT0, LimitMode::kTake) == Allowed(5, 4, 1'000));
  CHECK(DecideLimits(uses, 1, kT0, kT0, LimitMode::kTake) == Allowed(5, 3, 1'000));
}

// Twenty hits of one instant, each decided for itself.
int TakeTwenty(LimitState& state, const LimitRule& rule, int64_t now, int64_t at) {
  int taken = 0;
  for (int i = 0; i < 20; ++i) taken += Decide(state, {rule}, now, LimitMode::kTake, 1, at).allowed;
  return taken;
}

TEST_CASE("late hits are limited in their own time, and found as long as those in time are") {
  Zone utc;
  const int64_t yesterday = utc.Containing(kT0, CalendarUnit::kDay).start_ms - 1'000;
  for (const auto& [rule, at, lives_ms] : std::vector<std::tuple<LimitRule, int64_t, int64_t>>{
           {LimitRule::Fixed(5, 10'000), kT0 - 11'000, 10'000},
           {LimitRule::Sliding(5, 10'000), kT0 - 11'000, 10'000},
           {LimitRule::Rolling(5, 10'000), kT0 - 31'000, 18'000},
           {LimitRule::Bucket(5, 5, 1'000), kT0 - 5'000, 1'000},
           {LimitRule::Calendar(5, CalendarUnit::kDay, utc), yesterday, 1'000},
           {LimitRule::Base(3, 3, 1'000, utc), yesterday, 1'000}}) {
    INFO("algorithm " << static_cast<int>(rule.algorithm));
    LimitState state;
    CHECK(TakeTwenty(state, rule, kT0, at) == 5);
    CHECK(state.ExpiresAt() == kT0 + lives_ms);
    CHECK(TakeTwenty(state, rule, kT0 + lives_ms - 1, at) == 0);
    // On time it is another period, which late hits cannot leave.
    CHECK(TakeTwenty(state, rule, kT0, kT0) == 5);
    CHECK(TakeTwenty(state, rule, kT0, at) == 0);
  }
}

TEST_CASE("a stream that is late gets what one in time gets") {
  for (const int64_t late_ms : {0, 300, 500, 5'000, 3'600'000}) {
    LimitState bucket;
    LimitState sliding;
    LimitState fixed;
    int by_bucket = 0;
    int by_sliding = 0;
    int by_fixed = 0;
    for (int64_t now = kT0; now < kT0 + 20'000; now += 20) {
      const int64_t at = now - late_ms;
      const auto take = [&](LimitState& state, const LimitRule& rule) {
        return Decide(state, {rule}, now, LimitMode::kTake, 1, at).allowed ? 1 : 0;
      };
      by_bucket += take(bucket, LimitRule::Bucket(5, 5, 1'000));
      by_sliding += take(sliding, LimitRule::Sliding(5, 1'000));
      by_fixed += take(fixed, LimitRule::Fixed(5, 1'000));
    }
    INFO("late by " << late_ms);
    CHECK(by_bucket == 104);
    CHECK(by_sliding == 100);
    CHECK(by_fixed == 100);
  }
}

TEST_CASE("a retry is counted from the instant that was judged") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Fixed(1, 10'000)};
  CHECK(Decide(state, rules, kT0, LimitMode::kTake, 1, kT0 - 4'000) == Allowed(1, 0, 10'000));
  CHECK(Decide(state, rules, kT0, LimitMode::kTake, 1, kT0 - 3'000) ==
        Denied(1, 0, 9'000, 9'000, 1));
  CHECK(Decide(state, rules, kT0) == Denied(1, 0, 6'000, 6'000, 1));
}

TEST_CASE("no byte is stored more for hits in time, and lateness is") {
  for (const LimitRule& rule : {LimitRule::Fixed(9, 1'000), LimitRule::Sliding(9, 1'000),
                                LimitRule::Rolling(9, 1'000), LimitRule::Bucket(9, 1, 1'000)}) {
    LimitState late;
    Decide(late, {rule}, kT0 + 900, LimitMode::kTake, 1, kT0);
    LimitState in_time;
    Decide(in_time, {rule}, kT0);
    CHECK(Encoded(late).size() == Encoded(in_time).size() + 3);
    LimitState copy;
    REQUIRE(copy.Load(Encoded(late)));
    CHECK(copy.ExpiresAt() == late.ExpiresAt());
    CHECK(late.ExpiresAt() == in_time.ExpiresAt() + 900);
    // One in time makes the others ones that were counted as late as they were.
    Decide(late, {rule}, kT0 + 5'000);
    CHECK(Encoded(late).size() == Encoded(in_time).size());
  }
}

TEST_CASE("another rule or another client in time ends no window of late hits") {
  LimitState state;
  const std::vector<LimitRule> late{LimitRule::Fixed(5, 10'000)};
  const std::vector<LimitRule> other{LimitRule::Sliding(5, 1'000), LimitRule::Bucket(5, 5, 1'000)};
  CHECK(TakeTwenty(state, late[0], kT0, kT0 - 11'000) == 5);
  for (int i = 0; i < 9; ++i) {
    const int64_t now = kT0 + i * 1'000;
    Decide(state, other, now);
    state.Give(1, now, now - 60'000);
    CHECK(TakeTwenty(state, late[0], now, now - 11'000) == 0);
  }
}

TEST_CASE("what was counted by a clock that was ahead is read as counted now") {
  Zone utc;
  constexpr int64_t kAhead = 400 * int64_t{86'400'000};
  for (const auto& [rule, most_ms] : std::vector<std::pair<LimitRule, int64_t>>{
           {LimitRule::Fixed(1, 60'000), 60'000},
           {LimitRule::Sliding(1, 60'000), 60'000},
           {LimitRule::Rolling(1, 60'000), 60'000},
           {LimitRule::Bucket(1, 1, 60'000), 60'000},
           {LimitRule::Calendar(1, CalendarUnit::kMinute, utc), 60'000},
           {LimitRule::Base(1, 0, 60'000, utc), 86'400'000},
           {LimitRule::Base(0, 1, 60'000, utc), 60'000}}) {
    INFO("algorithm " << static_cast<int>(rule.algorithm));
    LimitState state;
    REQUIRE(Decide(state, {rule}, kT0 + kAhead).allowed);
    // As the engine does at a denial.
    const LimitUse use{&state, {&rule, 1}};
    const LimitDecision peeked = Decide(state, {rule}, kT0, LimitMode::kPeek);
    CHECK_FALSE(peeked.allowed);
    CHECK(peeked.retry_after_ms <= most_ms);
    CHECK(peeked.reset_after_ms <= 86'400'000);
    for (const LimitShown& shown : ShowLimits(state, kT0)) {
      CHECK(shown.newest_ms <= kT0);
      CHECK(shown.ends_ms <= kT0 + 86'400'000);
    }
    CHECK(SetBackLimits({&use, 1}, kT0));
    CHECK_FALSE(SetBackLimits({&use, 1}, kT0));
    CHECK(state.ExpiresAt() <= kT0 + 86'400'000);
    CHECK(Decide(state, {rule}, kT0 + peeked.retry_after_ms).allowed);
  }
}

TEST_CASE("FORCE counts late hits in their own place, and drops those outside every window") {
  Zone utc;
  const int64_t today = utc.Containing(kT0, CalendarUnit::kDay).start_ms;
  LimitState state;
  for (const auto& [rule, at] : std::vector<std::pair<LimitRule, int64_t>>{
           {LimitRule::Fixed(5, 1'000), kT0 - 1'000},
           {LimitRule::Sliding(5, 1'000), kT0 - 1'000},
           {LimitRule::Rolling(5, 1'000), kT0 - 1'000},
           {LimitRule::Calendar(5, CalendarUnit::kDay, utc), today - 1},
           {LimitRule::Base(5, 1, 1'000, utc), today - 1}}) {
    const LimitDecision late = Decide(state, {rule}, kT0, LimitMode::kForce, 1, at);
    CHECK(state.empty());
    CHECK(late == Decide(state, {rule}, kT0, LimitMode::kPeek, 1, at));
    // One millisecond later it still counts.
    Decide(state, {rule}, kT0, LimitMode::kForce, 1, at + 1);
    CHECK_FALSE(state.empty());
    state = LimitState();
  }
  // In the log in its place; where late hits were counted, they bound what is too late.
  const std::vector<LimitRule> sliding{LimitRule::Sliding(9, 1'000)};
  Decide(state, sliding, kT0);
  Decide(state, sliding, kT0, LimitMode::kForce, 1, kT0 - 900);
  CHECK(Decide(state, sliding, kT0 + 99, LimitMode::kPeek, 0).remaining == 7);
  CHECK(Decide(state, sliding, kT0 + 100, LimitMode::kPeek, 0).remaining == 8);
  state = LimitState();
  Decide(state, sliding, kT0, LimitMode::kTake, 1, kT0 - 5'000);
  Decide(state, sliding, kT0, LimitMode::kForce, 1, kT0 - 5'999);
  CHECK(Decide(state, sliding, kT0, LimitMode::kPeek, 0, kT0 - 5'000).remaining == 7);
}

TEST_CASE("COUNT counts as TAKE did, whatever there is") {
  for (const int64_t at : {kT0, kT0 - 1'500}) {
    const std::vector<LimitRule> rules{LimitRule::Fixed(1, 1'000), LimitRule::Sliding(1, 1'000),
                                       LimitRule::Bucket(1, 1, 1'000)};
    LimitState taken;
    LimitState counted;
    Decide(taken, rules, kT0, LimitMode::kTake, 1, at);
    Decide(counted, rules, kT0, LimitMode::kCount, 1, at);
    CHECK(Encoded(counted) == Encoded(taken));
    Decide(counted, rules, kT0, LimitMode::kCount, 1, at);
    CHECK(Encoded(counted) != Encoded(taken));
  }
}

TEST_CASE("a bucket's refill changes at once, and what is back stays") {
  LimitState state;
  const std::vector<LimitRule> slow{LimitRule::Bucket(10, 1, 1'000)};
  const std::vector<LimitRule> fast{LimitRule::Bucket(10, 5, 1'000)};
  CHECK(Decide(state, slow, kT0, LimitMode::kTake, 10) == Allowed(10, 0, 10'000));
  CHECK(Decide(state, fast, kT0) == Denied(10, 0, 200, 2'000, 1));
  CHECK(Decide(state, fast, kT0 + 200) == Allowed(10, 0, 2'000));
  CHECK(Decide(state, slow, kT0 + 1'200, LimitMode::kPeek, 0) == Allowed(10, 5, 1'000));
  // Late, at the instant when five were still missing.
  CHECK(Decide(state, slow, kT0 + 1'800, LimitMode::kTake, 2, kT0 + 1'200) ==
        Allowed(10, 3, 7'000));
}

TEST_CASE("a bucket that is full is forgotten, whatever else the key holds") {
  const std::vector<LimitRule> bucket{LimitRule::Bucket(20, 1, 1'000)};
  const std::vector<LimitRule> both{bucket[0], LimitRule::Fixed(99, 90'000)};
  for (const std::vector<LimitRule>& first : {bucket, both}) {
    LimitState state;
    CHECK(Decide(state, first, kT0, LimitMode::kTake, 20).allowed);
    CHECK(Decide(state, bucket, kT0 + 20'000, LimitMode::kTake, 15, kT0 + 10'000) ==
          Allowed(20, 5, 15'000));
    CHECK(Decide(state, bucket, kT0 + 20'000, LimitMode::kPeek, 0) == Allowed(20, 15, 5'000));
  }
}

TEST_CASE("BASE: a cost of 0 asks whether no more is counted than it allows") {
  Zone utc;
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Base(2, 1, 1'000, utc)};
  CHECK(Decide(state, rules, kT0, LimitMode::kTake, 2) == Allowed(2, 0, 6'400'000));
  CHECK_FALSE(Decide(state, rules, kT0).allowed);
  CHECK(Decide(state, rules, kT0, LimitMode::kTake, 0) == Allowed(2, 0, 6'400'000));
  CHECK_FALSE(Decide(state, rules, kT0, LimitMode::kForce).allowed);
  CHECK_FALSE(Decide(state, rules, kT0, LimitMode::kTake, 0).allowed);
}

TEST_CASE("a log that was full of hits which are over has room") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Sliding(2, 1'000)};
  Decide(state, rules, kT0, LimitMode::kForce, kMax);
  CHECK(Decide(state, rules, kT0 + 1'000, LimitMode::kTake, 2).allowed);
  CHECK_FALSE(Decide(state, rules, kT0 + 1'000).allowed);
}

TEST_CASE("a hit ahead of the clock is one now") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Sliding(2, 1'000)};
  CHECK(Decide(state, rules, kT0, LimitMode::kTake, 1, kT0 + 5'000) == Allowed(2, 1, 1'000));
  CHECK(state.ExpiresAt() == kT0 + 1'000);
}

TEST_CASE("GIVE gives the newest back, never below empty") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Sliding(3, 1'000), LimitRule::Fixed(3, 1'000),
                                     LimitRule::Bucket(3, 1, 1'000), LimitRule::Rolling(3, 1'000)};
  Decide(state, rules, kT0);
  Decide(state, rules, kT0 + 300);
  Decide(state, rules, kT0 + 500);
  CHECK_FALSE(Decide(state, rules, kT0 + 600, LimitMode::kPeek).allowed);
  state.Give(1, kT0 + 600, kT0 + 600);
  CHECK(Decide(state, {rules[0]}, kT0 + 600, LimitMode::kPeek, 0).reset_after_ms == 700);
  CHECK(Decide(state, rules, kT0 + 600).allowed);
  state.Give(100, kT0 + 600, kT0 + 600);
  CHECK(state.empty());
  CHECK(Decide(state, rules, kT0 + 600).remaining == 2);
}

TEST_CASE("GIVE with an instant leaves later hits and later windows alone") {
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Sliding(9, 1'000), LimitRule::Fixed(9, 400)};
  Decide(state, rules, kT0);
  Decide(state, rules, kT0 + 500);
  state.Give(5, kT0 + 600, kT0 + 100);
  CHECK(Decide(state, {rules[0]}, kT0 + 600, LimitMode::kPeek).remaining == 7);
  CHECK(Decide(state, {rules[1]}, kT0 + 600, LimitMode::kPeek).remaining == 7);
}

TEST_CASE("the numbers of a rule are checked, and the argument is named") {
  Zone utc;
  CHECK(ValidationError(LimitRule::Fixed(-1, 1'000)) == "limit must not be negative");
  CHECK(ValidationError(LimitRule::Fixed(1, 0)) == "period is out of range");
  CHECK(ValidationError(LimitRule::Sliding(1, kMaxDurationMs + 1)) == "period is out of range");
  CHECK(ValidationError(LimitRule::Bucket(-1, 1, 1)) == "capacity must not be negative");
  CHECK(ValidationError(LimitRule::Bucket(1, 0, 1)) == "refill must be at least 1");
  CHECK(ValidationError(LimitRule::Bucket(kMax / 999, 1, 1'000)) ==
        "capacity is too large for the period");
  CHECK(ValidationError(LimitRule::Bucket(1, kMax, 1'000)) == "refill is too large for the period");
  CHECK(ValidationError(LimitRule::Base(-1, 1, 1, utc)) == "base must not be negative");
  CHECK(ValidationError(LimitRule::Fixed(kMax, kMaxDurationMs)).empty());
  CHECK(ValidationError(LimitRule::Calendar(0, CalendarUnit::kDay, utc)).empty());
}

TEST_CASE("64-bit edges: the greatest limits, costs and instants") {
  Zone utc;
  LimitState state;
  const std::vector<LimitRule> rules{LimitRule::Fixed(kMax, kMaxDurationMs),
                                     LimitRule::Sliding(kMax, kMaxDurationMs),
                                     LimitRule::Rolling(kMax, kMaxDurationMs),
                                     LimitRule::Bucket(kMax / 1'000, 1, 1'000),
                                     LimitRule::Calendar(kMax, CalendarUnit::kYear, utc),
                                     LimitRule::Base(kMax, kMax, 1, utc)};
  CHECK(Decide(state, rules, kMaxInstantMs).remaining == kMax / 1'000 - 1);
  CHECK(Decide(state, rules, kMaxInstantMs, LimitMode::kForce, kMax).retry_after_ms == -1);
  CHECK(Decide(state, rules, kMaxInstantMs, LimitMode::kForce, kMax).retry_after_ms == -1);
  CHECK_FALSE(Decide(state, {rules[3]}, kMaxInstantMs).allowed);
  CHECK(Decide(state, {rules[0]}, kMaxInstantMs).limit == kMax);
  CHECK(state.ExpiresAt() > kMaxInstantMs);
  LimitState copy;
  REQUIRE(copy.Load(Encoded(state)));
  CHECK(Encoded(copy) == Encoded(state));
}

TEST_CASE("a FIXED state is at most 12 bytes, a BUCKET at most 17") {
  for (const int64_t period : {1'000, 1'500, 60'000, 3'600'000, 86'400'000}) {
    LimitState fixed;
    for (int i = 0; i < 1'000; ++i) Decide(fixed, {LimitRule::Fixed(1'000, period)}, kT0);
    CHECK(Encoded(fixed).size() <= 12);
    LimitState bucket;
    for (int i = 0; i < 1'000; ++i) Decide(bucket, {LimitRule::Bucket(1'000, 100, period)}, kT0);
    CHECK(Encoded(bucket).size() <= (period < 86'400'000 ? 16 : 17));
  }
}

TEST_CASE("CL.THROTTLE answers as redis-cell does") {
  // The cases of redis-cell's own test of its rate limiter: 5 at once, one back a second.
  const LimitRule rule = ThrottleRule(4, 1, 1'000);
  LimitState state;
  const auto throttle = [&](int64_t ms, int64_t quantity) {
    return ThrottleReplyOf(Decide(state, {rule}, kT0 + ms, LimitMode::kTake, quantity));
  };
  CHECK(throttle(0, 6) == ThrottleReply{true, 5, 5, -1, 0});
  for (int i = 1; i <= 5; ++i) CHECK(throttle(0, 1) == ThrottleReply{false, 5, 5 - i, -1, i});
  CHECK(throttle(0, 1) == ThrottleReply{true, 5, 0, 1, 5});
  CHECK(throttle(3'000, 1) == ThrottleReply{false, 5, 2, -1, 3});
  CHECK(throttle(3'100, 1) == ThrottleReply{false, 5, 1, -1, 4});
  CHECK(throttle(4'000, 1) == ThrottleReply{false, 5, 1, -1, 4});
  CHECK(throttle(8'000, 1) == ThrottleReply{false, 5, 4, -1, 1});
  CHECK(throttle(9'500, 1) == ThrottleReply{false, 5, 4, -1, 1});
  CHECK(throttle(9'500, 0) == ThrottleReply{false, 5, 4, -1, 1});
  CHECK(throttle(9'500, 2) == ThrottleReply{false, 5, 2, -1, 3});
  CHECK(throttle(9'500, 5) == ThrottleReply{true, 5, 2, 3, 3});
  // The README's example: CL.THROTTLE user123 15 30 60 1.
  LimitState fresh;
  CHECK(ThrottleReplyOf(Decide(fresh, {ThrottleRule(15, 30, 60'000)}, kT0)) ==
        ThrottleReply{false, 16, 15, -1, 2});
}

}  // namespace
}  // namespace tally::limit_test
