#include "core/limit/limit_math.h"

#include <algorithm>
#include <limits>

#include "core/saturating.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

// Weighted hits and fractions of tokens: hits times milliseconds.
__extension__ typedef __int128 Wide;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Wide CeilDiv(Wide numerator, Wide denominator) {
  return (numerator + denominator - 1) / denominator;
}

void RollRolling(LimitNumbers& numbers, int64_t period, int64_t e) {
  const int64_t start = e - e % period;
  const bool used = numbers.hits > 0 || numbers.before > 0;
  if (used && numbers.window.start_ms >= start) return;
  numbers.before = numbers.window.start_ms == start - period ? numbers.hits : 0;
  numbers.hits = 0;
  numbers.window = {start, start + period};
}

void RollBucket(LimitNumbers& numbers, const LimitRule& rule, int64_t e) {
  if (numbers.hits == 0) {
    numbers.window.start_ms = e;
  } else if (e > numbers.window.start_ms) {
    const Wide back = Wide{e - numbers.window.start_ms} * numbers.refill;
    numbers.hits = back >= numbers.hits ? 0 : numbers.hits - static_cast<int64_t>(back);
    numbers.window.start_ms = e;
  }
  numbers.refill = rule.refill;
}

// How much of the window before still counts, times the period.
Wide WeightedBefore(const LimitNumbers& numbers, int64_t period, int64_t e) {
  const int64_t into = std::max<int64_t>(0, e - numbers.window.start_ms);
  return Wide{numbers.before} * (period - into);
}

// Of the hits that follow the first `day_hits` of the day, those of `cost` that are at or beyond
// the base-th and so count in the window too.
int64_t BeyondBase(int64_t day_hits, int64_t base, int64_t cost) {
  const int64_t free_hits = std::max<int64_t>(0, std::max<int64_t>(0, base - 1) - day_hits);
  return std::max<int64_t>(0, cost - free_hits);
}

// As if the hits came one by one: the last of them is denied if the day then holds `base` and the
// window `limit`.
bool BaseFits(int64_t day_hits, int64_t window_hits, const LimitRule& rule, int64_t cost) {
  const int64_t ahead = std::max<int64_t>(0, cost - 1);
  if (SaturatingAdd(day_hits, ahead) < rule.base) return true;
  return SaturatingAdd(window_hits, BeyondBase(day_hits, rule.base, ahead)) < rule.limit;
}

int64_t BaseRemaining(const LimitNumbers& numbers, const LimitRule& rule) {
  const int64_t day_hits = numbers.before;
  if (day_hits >= rule.base) return std::max<int64_t>(0, rule.limit - numbers.hits);
  // Up to the base-th they are free, but the base-th counts in the window.
  const int64_t in_window = SaturatingAdd(numbers.hits, 1);
  return SaturatingAdd(rule.base - day_hits, std::max<int64_t>(0, rule.limit - in_window));
}

int64_t RollingFitsFrom(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost) {
  const int64_t period = rule.period_ms;
  const int64_t start = numbers.window.start_ms;
  // In this window: before * (period - into) <= room * period.
  const int64_t room = rule.limit - cost - numbers.hits;
  if (room >= 0) {
    const Wide into =
        numbers.before == 0 ? Wide{0} : Wide{period} - Wide{room} * period / numbers.before;
    return start + static_cast<int64_t>(std::max<Wide>(0, into));
  }
  // In the next one, this one's hits weigh less and less.
  const Wide into = Wide{period} - Wide{rule.limit - cost} * period / numbers.hits;
  return start + period + static_cast<int64_t>(std::max<Wide>(0, into));
}

int64_t BucketFitsFrom(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost) {
  const Wide missing =
      Wide{numbers.hits} + Wide{cost} * rule.period_ms - Wide{rule.limit} * rule.period_ms;
  return SaturatingAdd(numbers.window.start_ms,
                       static_cast<int64_t>(CeilDiv(missing, rule.refill)));
}

int64_t BaseFitsFrom(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost) {
  // A window that is not open ends before anything does.
  const int64_t window_end = numbers.hits > 0 ? numbers.window.end_ms : 0;
  const int64_t day_end = numbers.before > 0 ? numbers.day.end_ms : 0;
  const int64_t first = std::min(window_end, day_end);
  const int64_t day_hits = day_end <= first ? 0 : numbers.before;
  const int64_t window_hits = window_end <= first ? 0 : numbers.hits;
  if (first > 0 && BaseFits(day_hits, window_hits, rule, cost)) return first;
  return std::max(window_end, day_end);
}

}  // namespace

void Roll(LimitNumbers& numbers, const LimitRule& rule, int64_t e) {
  switch (rule.algorithm) {
    case Algorithm::kRolling:
      RollRolling(numbers, rule.period_ms, e);
      return;
    case Algorithm::kBucket:
      RollBucket(numbers, rule, e);
      return;
    case Algorithm::kBase:
      if (numbers.before == 0 || e >= numbers.day.end_ms) {
        numbers.day = rule.zone->Containing(e, CalendarUnit::kDay);
        numbers.before = 0;
      }
      break;
    default:
      break;
  }
  if (numbers.hits > 0 && e < numbers.window.end_ms) return;
  numbers.hits = 0;
  numbers.window = rule.algorithm == Algorithm::kCalendar
                       ? rule.zone->Containing(e, rule.unit, rule.week_start)
                       : Period{e, e + rule.period_ms};
}

void AddHits(LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t at, int64_t e) {
  switch (rule.algorithm) {
    case Algorithm::kCalendar:
      numbers.hits = SaturatingAdd(numbers.hits, cost);
      return;
    case Algorithm::kRolling: {
      int64_t& hits = at < numbers.window.start_ms ? numbers.before : numbers.hits;
      hits = SaturatingAdd(hits, cost);
      return;
    }
    case Algorithm::kBucket: {
      int64_t units = 0;
      if (__builtin_mul_overflow(cost, rule.period_ms, &units)) units = kMax;
      numbers.hits = SaturatingAdd(numbers.hits, units);
      return;
    }
    default:
      break;
  }
  int64_t in_window = cost;
  if (rule.algorithm == Algorithm::kBase) {
    in_window = at + rule.period_ms > e ? BeyondBase(numbers.before, rule.base, cost) : 0;
    numbers.before = SaturatingAdd(numbers.before, cost);
  }
  // The first hit opens the window.
  if (numbers.hits == 0) numbers.window = {at, at + rule.period_ms};
  numbers.hits = SaturatingAdd(numbers.hits, in_window);
}

bool Fits(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t e) {
  if (NeverFits(rule, cost)) return false;
  const Wide period = rule.period_ms;
  switch (rule.algorithm) {
    case Algorithm::kRolling:
      return (Wide{numbers.hits} + cost) * period + WeightedBefore(numbers, rule.period_ms, e) <=
             Wide{rule.limit} * period;
    case Algorithm::kBucket:
      return Wide{numbers.hits} + Wide{cost} * period <= Wide{rule.limit} * period;
    case Algorithm::kBase:
      return BaseFits(numbers.before, numbers.hits, rule, cost);
    default:
      return cost <= rule.limit - numbers.hits;
  }
}

bool NeverFits(const LimitRule& rule, int64_t cost) {
  switch (rule.algorithm) {
    case Algorithm::kAllow:
      return false;
    case Algorithm::kDeny:
      return true;
    case Algorithm::kBase:
      return !BaseFits(0, 0, rule, cost);
    default:
      return rule.limit == 0 || cost > rule.limit;
  }
}

int64_t RemainingOf(const LimitNumbers& numbers, const LimitRule& rule, int64_t e) {
  const Wide period = rule.period_ms;
  switch (rule.algorithm) {
    case Algorithm::kRolling: {
      const Wide room =
          (Wide{rule.limit} - numbers.hits) * period - WeightedBefore(numbers, rule.period_ms, e);
      return room <= 0 ? 0 : static_cast<int64_t>(room / period);
    }
    case Algorithm::kBucket: {
      const Wide room = Wide{rule.limit} * period - numbers.hits;
      return room <= 0 ? 0 : static_cast<int64_t>(room / period);
    }
    case Algorithm::kBase:
      return BaseRemaining(numbers, rule);
    default:
      return std::max<int64_t>(0, rule.limit - numbers.hits);
  }
}

int64_t CapacityOf(const LimitRule& rule) {
  if (rule.algorithm != Algorithm::kBase) return rule.limit;
  return BaseRemaining(LimitNumbers(), rule);
}

int64_t FitsFrom(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t e) {
  switch (rule.algorithm) {
    case Algorithm::kRolling:
      return std::max(e, RollingFitsFrom(numbers, rule, cost));
    case Algorithm::kBucket:
      return std::max(e, BucketFitsFrom(numbers, rule, cost));
    case Algorithm::kBase:
      return std::max(e, BaseFitsFrom(numbers, rule, cost));
    default:
      return std::max(e, numbers.window.end_ms);
  }
}

}  // namespace tally
