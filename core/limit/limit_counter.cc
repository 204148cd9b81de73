#include "core/limit/limit_counter.h"

#include <algorithm>

#include "core/base/saturating.h"
#include "core/base/wide.h"
#include "core/limit/limit_math.h"
#include "core/limit/lockout.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

// Takes at most `hits` off `count`; returns what it could not take.
int64_t TakeBack(int64_t hits, int64_t& count) {
  const int64_t taken = std::min(hits, count);
  count -= taken;
  return hits - taken;
}

// The instant of judgement from which nothing in the counter counts; 0 if nothing counts.
int64_t EndOf(const LimitCounter& counter) {
  if (counter.key.algorithm != Algorithm::kSliding) return ExpiryOf(counter.key, counter.numbers);
  return counter.log->empty() ? 0 : counter.log->newest_ms() + counter.key.period_ms;
}

}  // namespace

LimitKey LimitKey::Of(const LimitRule& rule) {
  LimitKey key;
  key.algorithm = rule.algorithm;
  key.shadow = rule.shadow;
  if (rule.algorithm == Algorithm::kCalendar) {
    key.unit = rule.unit;
  } else {
    key.period_ms = rule.period_ms;
    if (rule.has_grid()) key.start_ms = 1 + rule.from_ms % rule.period_ms;
  }
  if (key.has_zone()) {
    key.zone_id = rule.zone->id();
    key.start_ms = rule.start.code();
  }
  return key;
}

void LimitKey::ToRule(LimitRule& rule) const {
  rule.algorithm = algorithm;
  rule.shadow = shadow;
  rule.unit = unit;
  rule.period_ms = period_ms;
  if (has_zone()) {
    rule.start =
        CalendarStart::OfCode(static_cast<uint64_t>(start_ms), unit).value_or(CalendarStart());
  } else if (start_ms > 0) {
    rule.from_ms = start_ms - 1;
  }
}

int64_t ExpiryOf(const LimitKey& key, const LimitNumbers& numbers) {
  const int64_t window_end_ms = numbers.hits > 0 ? numbers.window.end_ms : 0;
  switch (key.algorithm) {
    case Algorithm::kRolling:
      // The last hit to leave: see limit_math.cc.
      if (numbers.hits > 0)
        return numbers.window.end_ms + key.period_ms - key.period_ms / numbers.hits;
      if (numbers.before == 0) return 0;
      return numbers.window.end_ms -
             static_cast<int64_t>(static_cast<uint64_t>(key.period_ms) /
                                  (static_cast<uint64_t>(numbers.before) + 1));
    case Algorithm::kBucket:
      // Rounded up: at that instant the last part of a token is back.
      if (numbers.hits == 0) return 0;
      return SaturatingAdd(numbers.window.start_ms,
                           numbers.hits / numbers.refill + (numbers.hits % numbers.refill != 0));
    case Algorithm::kLockout:
      return LockoutExpiry(numbers);
    case Algorithm::kBase:
      return std::max(numbers.before > 0 ? numbers.day.end_ms : 0, window_end_ms);
    default:
      return window_end_ms;
  }
}

int64_t UnusedFrom(const LimitKey& key, const LimitNumbers& numbers, int64_t e_ms) {
  return key.algorithm == Algorithm::kLockout ? LockoutUnusedFrom(numbers, e_ms)
                                              : ExpiryOf(key, numbers);
}

int64_t LimitCounter::ExpiresAt() const {
  const int64_t end_ms = EndOf(*this);
  return end_ms == 0 ? 0 : SaturatingAdd(end_ms, late_ms);
}

// Flattened: a call costs as much as the rest, for each of 1,000 counters.
[[gnu::flatten]] bool LimitCounter::OtherHasExpiredAt(int64_t instant_ms) const {
  const int64_t judged_at_ms = instant_ms - late_ms;
  switch (key.algorithm) {
    case Algorithm::kSliding:
      return log->empty() || log->newest_ms() + key.period_ms <= judged_at_ms;
    case Algorithm::kBucket:
      return numbers.hits == 0 ||
             Wide{judged_at_ms - numbers.window.start_ms} * numbers.refill >= numbers.hits;
    case Algorithm::kRolling: {
      if (numbers.hits == 0 && numbers.before == 0) return true;
      // See ExpiryOf: the last hit leaves period_ms / hits before the last instant.
      const bool is_open = numbers.hits > 0;
      const Wide hits = is_open ? Wide{numbers.hits} : Wide{numbers.before} + 1;
      const int64_t left_ms = numbers.window.end_ms + (is_open ? key.period_ms : 0) - judged_at_ms;
      return left_ms <= 0 || left_ms * hits <= key.period_ms;
    }
    default:
      return ExpiresAt() <= instant_ms;
  }
}

void LimitCounter::Clear() {
  numbers = {};
  late_ms = 0;
  if (log != nullptr) log->Clear();
}

void LimitCounter::CountMore(int64_t hits, int64_t now_ms) {
  if (log != nullptr) {
    log->Add(std::max(now_ms, log->newest_ms()), static_cast<uint64_t>(hits));
    return;
  }
  int64_t units = hits;
  if (key.algorithm == Algorithm::kBucket) {
    BringBucketTo(numbers, numbers.refill, now_ms);
    if (__builtin_mul_overflow(hits, key.period_ms, &units)) units = INT64_MAX;
  }
  if (key.algorithm == Algorithm::kBase) numbers.before = SaturatingAdd(numbers.before, hits);
  numbers.hits = SaturatingAdd(numbers.hits, units);
}

void LimitCounter::Give(int64_t count, int64_t at_ms, int64_t e_ms) {
  const int64_t period_ms = key.period_ms;
  switch (key.algorithm) {
    case Algorithm::kSliding:
      log->RemoveNewest(static_cast<uint64_t>(count), at_ms);
      break;
    case Algorithm::kRolling: {
      int64_t left = count;
      if (at_ms >= numbers.window.start_ms) left = TakeBack(left, numbers.hits);
      if (at_ms >= numbers.window.start_ms - period_ms) TakeBack(left, numbers.before);
      break;
    }
    case Algorithm::kBucket: {
      int64_t units = 0;
      if (__builtin_mul_overflow(count, period_ms, &units)) units = numbers.hits;
      TakeBack(units, numbers.hits);
      break;
    }
    case Algorithm::kLockout:
      if (at_ms >= numbers.window.start_ms) GiveToLockout(numbers, count, e_ms);
      break;
    case Algorithm::kBase:
      if (at_ms >= numbers.day.start_ms) TakeBack(count, numbers.before);
      [[fallthrough]];
    default:
      if (at_ms >= numbers.window.start_ms) TakeBack(count, numbers.hits);
      break;
  }
}

}  // namespace tally
