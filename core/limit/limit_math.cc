#include "core/limit/limit_math.h"

#include <algorithm>
#include <limits>

#include "core/base/saturating.h"
#include "core/base/wide.h"
#include "core/limit/lockout.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Wide CeilDiv(Wide numerator, Wide denominator) {
  return (numerator + denominator - 1) / denominator;
}

// How many of `hits` still count `ms` after they began to leave one by one, `rate` of them a
// period.
int64_t StillCounting(int64_t hits, uint64_t rate, int64_t period_ms, int64_t ms) {
  if (ms >= period_ms) return 0;
  if (ms <= 0) return hits;
  const auto past = static_cast<uint64_t>(ms);
  const auto length = static_cast<uint64_t>(period_ms);
  uint64_t gone = 0;
  // A division of 128 bits costs as much as the rest of a decision.
  if (!__builtin_mul_overflow(past, rate, &gone)) [[likely]] {
    gone /= length;
  } else {
    gone = static_cast<uint64_t>(Wide{ms} * rate / period_ms);
  }
  return std::max<int64_t>(0, hits - static_cast<int64_t>(gone));
}

// The hits of the windows before that still count at `e_ms`: they leave evenly while the window is
// open.
int64_t RollingBefore(const LimitNumbers& numbers, int64_t period_ms, int64_t e_ms) {
  if (numbers.before == 0) return 0;
  const uint64_t rate = static_cast<uint64_t>(numbers.before) + 1;
  return StillCounting(numbers.before, rate, period_ms, e_ms - numbers.window.start_ms);
}

// The hits of a window that is over. It began with the first of them, which has left when the
// window is over; the others are assumed to lie evenly in it.
int64_t RollingAfter(const LimitNumbers& numbers, int64_t period_ms, int64_t e_ms) {
  if (numbers.hits == 0) return 0;
  const auto rate = static_cast<uint64_t>(numbers.hits);
  return StillCounting(numbers.hits - 1, rate, period_ms, e_ms - numbers.window.end_ms);
}

void RollRolling(LimitNumbers& numbers, int64_t period_ms, int64_t e_ms) {
  const bool is_open = numbers.hits > 0 && e_ms < numbers.window.end_ms;
  if (is_open || RollingHits(numbers, period_ms, e_ms) > 0) return;
  numbers.hits = 0;
  numbers.before = 0;
  numbers.window = {e_ms, e_ms + period_ms};
}

// Whether the open window has hits and holds `at_ms`.
bool IsInRolling(const LimitNumbers& numbers, int64_t at_ms) {
  return numbers.hits > 0 && at_ms >= numbers.window.start_ms && at_ms < numbers.window.end_ms;
}

// Counts hits for which IsInRolling() is false. Not inline, as AddToBucket, because the registers
// that it needs would be saved for each hit of any algorithm.
[[gnu::noinline]] void AddBesideRolling(LimitNumbers& numbers, int64_t period_ms, int64_t cost,
                                        int64_t at_ms) {
  const bool used = numbers.hits > 0 || numbers.before > 0;
  if (used && at_ms < numbers.window.start_ms) {
    numbers.before = SaturatingAdd(numbers.before, cost);
    return;
  }
  if (!used || at_ms >= numbers.window.end_ms) {
    // The hit opens a window.
    numbers.before = used ? RollingAfter(numbers, period_ms, at_ms) : 0;
    numbers.window = {at_ms, at_ms + period_ms};
  }
  numbers.hits = cost;
}

// What is missing in a bucket at `at_ms`, if `refill` tokens come back each period; in the unit of
// LimitNumbers::hits.
int64_t MissingAt(const LimitNumbers& numbers, int64_t refill, int64_t at_ms) {
  if (at_ms <= numbers.window.start_ms) return numbers.hits;
  const Wide back = Wide{at_ms - numbers.window.start_ms} * refill;
  return back >= numbers.hits ? 0 : numbers.hits - static_cast<int64_t>(back);
}

// The rate at which tokens come back until the next hit is taken: the faster of the old refill and
// the rule's. So a faster refill works at once, and a slower one takes back no token.
int64_t RefillUntilNow(const LimitNumbers& numbers, const LimitRule& rule) {
  return std::max(numbers.refill, rule.refill);
}

void RollBucket(LimitNumbers& numbers, const LimitRule& rule, int64_t e_ms) {
  const int64_t refill = RefillUntilNow(numbers, rule);
  numbers.hits = MissingAt(numbers, refill, e_ms);
  numbers.window.start_ms = numbers.hits == 0 ? e_ms : std::max(numbers.window.start_ms, e_ms);
  numbers.refill = numbers.hits == 0 ? rule.refill : refill;
}

// A bucket that is full at `e_ms` is treated as if it was never used. In another bucket, what a
// late hit took has been coming back since the hit's own instant, or since the newest hit if that
// is later, because what was missing before the newest hit is not known any more.
[[gnu::noinline]] void AddToBucket(LimitNumbers& numbers, const LimitRule& rule, int64_t cost,
                                   int64_t at_ms, int64_t e_ms) {
  const int64_t refill = RefillUntilNow(numbers, rule);
  if (MissingAt(numbers, refill, e_ms) > 0) {
    BringBucketTo(numbers, refill, at_ms);
  } else {
    numbers.hits = 0;
    numbers.window.start_ms = at_ms;
    numbers.refill = rule.refill;
  }
  numbers.hits = SaturatingAdd(numbers.hits, BucketUnits(rule, cost));
  if (numbers.refill == rule.refill) return;
  // The rule's own rate holds from `e_ms` on.
  BringBucketTo(numbers, refill, e_ms);
  numbers.refill = rule.refill;
}

// The number of the day's first hit, from 1, that counts in the window too.
int64_t WindowsFrom(const LimitRule& rule) {
  return std::max<int64_t>(1, std::min(rule.base, rule.shared_base));
}

// How many hits after the day's first `day_hits` do not count in the window.
int64_t FreeHits(int64_t day_hits, const LimitRule& rule) {
  return std::max<int64_t>(0, WindowsFrom(rule) - 1 - day_hits);
}

// How many of the `cost` hits that follow the day's first `day_hits` count in the window too.
int64_t InWindow(int64_t day_hits, const LimitRule& rule, int64_t cost) {
  return std::max<int64_t>(0, cost - FreeHits(day_hits, rule));
}

// Judges as if the hits came one by one: the last one is denied if, before it, the day already
// holds `base` hits and the window already holds `limit`.
bool BaseFits(int64_t day_hits, int64_t window_hits, const LimitRule& rule, int64_t cost) {
  if (Wide{day_hits} + cost <= rule.base) return true;
  return Wide{window_hits} + InWindow(day_hits, rule, cost) <= rule.limit;
}

int64_t BaseRemaining(const LimitNumbers& numbers, const LimitRule& rule) {
  const int64_t by_day = std::max<int64_t>(0, rule.base - numbers.before);
  if (numbers.hits >= rule.limit) return by_day;
  const int64_t free_hits = FreeHits(numbers.before, rule);
  return std::max(by_day, SaturatingAdd(free_hits, rule.limit - numbers.hits));
}

int64_t RollingEarliestFit(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost) {
  const Wide period = rule.period_ms;
  const int64_t room = rule.limit - cost;
  if (numbers.hits <= room) {
    // In this window, when enough of those before it have left.
    const Wide leaving = Wide{numbers.before} - (room - numbers.hits);
    return numbers.window.start_ms +
           static_cast<int64_t>(CeilDiv(leaving * period, Wide{numbers.before} + 1));
  }
  // After this window, when enough of its own hits have left.
  const Wide leaving = std::max<Wide>(0, Wide{numbers.hits} - 1 - room);
  return numbers.window.end_ms + static_cast<int64_t>(CeilDiv(leaving * period, numbers.hits));
}

int64_t BucketEarliestFit(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost) {
  const Wide missing =
      Wide{numbers.hits} + Wide{cost} * rule.period_ms - Wide{rule.limit} * rule.period_ms;
  return SaturatingAdd(numbers.window.start_ms,
                       static_cast<int64_t>(CeilDiv(missing, numbers.refill)));
}

int64_t BaseEarliestFit(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost) {
  // The end of a window or day without hits is taken as 0, which is before any other end.
  const int64_t window_end_ms = numbers.hits > 0 ? numbers.window.end_ms : 0;
  const int64_t day_end_ms = numbers.before > 0 ? numbers.day.end_ms : 0;
  const int64_t first_ms = std::min(window_end_ms, day_end_ms);
  const int64_t day_hits = day_end_ms <= first_ms ? 0 : numbers.before;
  const int64_t window_hits = window_end_ms <= first_ms ? 0 : numbers.hits;
  if (first_ms > 0 && BaseFits(day_hits, window_hits, rule, cost)) return first_ms;
  return std::max(window_end_ms, day_end_ms);
}

}  // namespace

int64_t BucketUnits(const LimitRule& rule, int64_t cost) {
  int64_t units = 0;
  return __builtin_mul_overflow(cost, rule.period_ms, &units) ? kMax : units;
}

void BringBucketTo(LimitNumbers& numbers, int64_t refill, int64_t at_ms) {
  numbers.hits = MissingAt(numbers, refill, at_ms);
  numbers.window.start_ms = std::max(numbers.window.start_ms, at_ms);
}

void SetBackTo(LimitNumbers& numbers, const LimitRule& rule, int64_t now_ms) {
  if (rule.algorithm == Algorithm::kLockout) {
    return SetLockoutBackTo(numbers, rule.period_ms, now_ms);
  }
  if (numbers.day.start_ms > now_ms) numbers.day = rule.DayAt(now_ms);
  if (numbers.window.start_ms > now_ms) numbers.window = rule.WindowAt(now_ms);
}

void Roll(LimitNumbers& numbers, const LimitRule& rule, int64_t e_ms) {
  switch (rule.algorithm) {
    case Algorithm::kRolling:
      RollRolling(numbers, rule.period_ms, e_ms);
      return;
    case Algorithm::kBucket:
      RollBucket(numbers, rule, e_ms);
      return;
    case Algorithm::kLockout:
      RollLockout(numbers, e_ms);
      return;
    case Algorithm::kBase:
      if (numbers.before == 0 || e_ms >= numbers.day.end_ms) {
        numbers.day = rule.DayAt(e_ms);
        numbers.before = 0;
      }
      break;
    default:
      break;
  }
  if (numbers.hits > 0 && e_ms < numbers.window.end_ms) return;
  numbers.hits = 0;
  numbers.window = rule.WindowAt(e_ms);
}

void AddHits(LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t at_ms,
             int64_t e_ms) {
  switch (rule.algorithm) {
    case Algorithm::kCalendar:
      numbers.hits = SaturatingAdd(numbers.hits, cost);
      return;
    case Algorithm::kRolling:
      if (!IsInRolling(numbers, at_ms))
        return AddBesideRolling(numbers, rule.period_ms, cost, at_ms);
      numbers.hits = SaturatingAdd(numbers.hits, cost);
      return;
    case Algorithm::kBucket:
      AddToBucket(numbers, rule, cost, at_ms, e_ms);
      return;
    case Algorithm::kLockout:
      AddToLockout(numbers, rule, cost, at_ms, e_ms);
      return;
    default:
      break;
  }
  int64_t in_window = cost;
  if (rule.algorithm == Algorithm::kBase) {
    in_window = at_ms + rule.period_ms > e_ms ? InWindow(numbers.before, rule, cost) : 0;
    numbers.before = SaturatingAdd(numbers.before, cost);
  }
  // The first hit opens the window.
  if (numbers.hits == 0 && !rule.has_grid()) numbers.window = {at_ms, at_ms + rule.period_ms};
  numbers.hits = SaturatingAdd(numbers.hits, in_window);
}

int64_t MissingTokens(const LimitNumbers& numbers, int64_t period_ms, int64_t e_ms) {
  const int64_t missing = MissingAt(numbers, numbers.refill, e_ms);
  return missing / period_ms + (missing % period_ms != 0);
}

int64_t RollingHits(const LimitNumbers& numbers, int64_t period_ms, int64_t e_ms) {
  if (e_ms >= numbers.window.end_ms) return RollingAfter(numbers, period_ms, e_ms);
  return SaturatingAdd(numbers.hits, RollingBefore(numbers, period_ms, e_ms));
}

bool IsOutside(const LimitRule& rule, int64_t at_ms, int64_t e_ms) {
  if (at_ms >= e_ms || rule.algorithm == Algorithm::kBucket) return false;
  switch (rule.algorithm) {
    case Algorithm::kCalendar:
      return PeriodContaining(at_ms, rule.unit, rule.start, rule.zone->time_zone()).end_ms <= e_ms;
    case Algorithm::kBase:
      return at_ms < rule.DayAt(e_ms).start_ms;
    default:
      if (rule.has_grid()) return rule.WindowAt(at_ms).end_ms <= e_ms;
      return at_ms <= e_ms - rule.period_ms;
  }
}

bool Fits(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t e_ms) {
  if (ExceedsRule(rule, cost)) return false;
  const Wide period = rule.period_ms;
  switch (rule.algorithm) {
    case Algorithm::kRolling:
      return cost <= rule.limit - RollingHits(numbers, rule.period_ms, e_ms);
    case Algorithm::kBucket:
      return Wide{numbers.hits} + Wide{cost} * period <= Wide{rule.limit} * period;
    case Algorithm::kBase:
      return BaseFits(numbers.before, numbers.hits, rule, cost);
    case Algorithm::kLockout:
      return !IsBlocked(numbers, e_ms) && cost <= rule.limit - numbers.hits;
    default:
      return cost <= rule.limit - numbers.hits;
  }
}

bool ExceedsRule(const LimitRule& rule, int64_t cost) {
  switch (rule.algorithm) {
    case Algorithm::kAllow:
      return false;
    case Algorithm::kDeny:
      return true;
    case Algorithm::kBase:
      return (rule.base == 0 && rule.limit == 0) || !BaseFits(0, 0, rule, cost);
    default:
      return rule.limit == 0 || cost > rule.limit;
  }
}

int64_t RemainingOf(const LimitNumbers& numbers, const LimitRule& rule, int64_t e_ms) {
  const Wide period = rule.period_ms;
  switch (rule.algorithm) {
    case Algorithm::kRolling:
      return std::max<int64_t>(0, rule.limit - RollingHits(numbers, rule.period_ms, e_ms));
    case Algorithm::kBucket: {
      const Wide room = Wide{rule.limit} * period - MissingAt(numbers, numbers.refill, e_ms);
      return room <= 0 ? 0 : static_cast<int64_t>(room / period);
    }
    case Algorithm::kBase:
      return BaseRemaining(numbers, rule);
    case Algorithm::kLockout:
      return IsBlocked(numbers, e_ms) ? 0 : std::max<int64_t>(0, rule.limit - numbers.hits);
    default:
      return std::max<int64_t>(0, rule.limit - numbers.hits);
  }
}

int64_t CapacityOf(const LimitRule& rule) {
  if (rule.algorithm != Algorithm::kBase) return rule.limit;
  return BaseRemaining(LimitNumbers(), rule);
}

int64_t EarliestFit(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost,
                    int64_t e_ms) {
  switch (rule.algorithm) {
    case Algorithm::kRolling:
      return std::max(e_ms, RollingEarliestFit(numbers, rule, cost));
    case Algorithm::kBucket:
      return std::max(e_ms, BucketEarliestFit(numbers, rule, cost));
    case Algorithm::kBase:
      return std::max(e_ms, BaseEarliestFit(numbers, rule, cost));
    case Algorithm::kLockout:
      return std::max(e_ms, LockoutUnusedFrom(numbers, e_ms));
    default:
      return std::max(e_ms, numbers.window.end_ms);
  }
}

}  // namespace tally
