#include "core/limit/late_hits.h"

#include <algorithm>

#include "core/limit/limit.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

// Whether what the counter holds outlives its window: the hits of a day, or a block.
bool HasDay(Algorithm algorithm, const LimitNumbers& numbers) {
  return (algorithm == Algorithm::kBase || algorithm == Algorithm::kLockout) && numbers.before != 0;
}

// The earliest instant that a late hit of the counter may have had.
int64_t BeginOf(const LimitCounter& counter) {
  const LimitNumbers& numbers = counter.numbers;
  return HasDay(counter.key.algorithm, numbers)
             ? std::min(numbers.day.start_ms, numbers.window.start_ms)
             : ClockOf(counter);
}

// Where a hit is counted: at the instant at which it was judged, or in its own place.
struct HitPlace {
  int64_t at_ms;
  int64_t e_ms;  // no window that is over at this instant gets it
};

void CountLog(LimitCounter& counter, const Hit& hit, const HitPlace& place) {
  // Expired hits are dropped first: a log that is full (INT64_MAX hits) may have only those.
  counter.log->DropThrough(std::max(place.at_ms, ClockOf(counter)) - counter.key.period_ms);
  counter.log->Add(place.at_ms, static_cast<uint64_t>(hit.cost));
  counter.late_ms = hit.now_ms - counter.log->newest_ms();
}

void CountNumbers(LimitCounter& counter, const LimitRule& rule, const Hit& hit,
                  const HitPlace& place) {
  LimitNumbers& numbers = counter.numbers;
  if (rule.algorithm == Algorithm::kBucket) {
    AddHits(numbers, rule, hit.cost, place.at_ms, place.e_ms);
    counter.late_ms = hit.now_ms - numbers.window.start_ms;
    return;
  }
  Roll(numbers, rule, place.e_ms);
  const bool day = HasDay(rule.algorithm, numbers);
  const int64_t start_ms = numbers.window.start_ms;
  const bool used = numbers.hits > 0 || numbers.before > 0;
  AddHits(numbers, rule, hit.cost, place.at_ms, place.e_ms);
  // A window that has hits already keeps how late they were; but after a new block, or on a new
  // day, none is as late as those of the last one may have been.
  const bool same = day || (used && numbers.window.start_ms == start_ms);
  const int64_t late_ms = hit.now_ms - std::max(place.at_ms, ClockOf(counter));
  counter.late_ms =
      std::min(std::max(same ? counter.late_ms : 0, late_ms), hit.now_ms - BeginOf(counter));
}

}  // namespace

bool SetBackTo(LimitCounter& counter, const LimitRule& rule, int64_t now_ms) {
  if (ClockOf(counter) <= now_ms) [[likely]] {
    if (counter.late_ms == 0 || BeginOf(counter) + counter.late_ms <= now_ms) return false;
    counter.late_ms = now_ms - BeginOf(counter);
    return true;
  }
  if (counter.log != nullptr) {
    counter.log->SetBackTo(now_ms);
  } else {
    SetBackTo(counter.numbers, rule, now_ms);
  }
  counter.late_ms = 0;
  return true;
}

bool IsDropped(const LimitRule& rule, const LimitState& state, const Hit& hit) {
  const LimitCounter* counter = state.Find(LimitKey::Of(rule));
  int64_t horizon_ms = hit.now_ms;
  if (counter != nullptr && !IsOver(*counter, hit)) {
    const int64_t most_ms = std::max<int64_t>(0, hit.now_ms - BeginOf(*counter));
    horizon_ms -= std::min(counter->late_ms, most_ms);
  }
  return IsOutside(rule, hit.at_ms, horizon_ms);
}

void CountLate(LimitCounter& counter, const LimitRule& rule, const Hit& hit, bool in_own_place) {
  if (IsOver(counter, hit)) counter.Clear();
  SetBackTo(counter, rule, hit.now_ms);
  const int64_t e_ms = std::max(hit.at_ms, ClockOf(counter));
  const HitPlace place = in_own_place
                             ? HitPlace{hit.at_ms, std::max(e_ms, hit.now_ms - counter.late_ms)}
                             : HitPlace{e_ms, e_ms};
  if (rule.algorithm == Algorithm::kSliding) {
    CountLog(counter, hit, place);
  } else {
    CountNumbers(counter, rule, hit, place);
  }
}

bool IsAhead(const LimitCounter& counter, int64_t now_ms) {
  return ClockOf(counter) > now_ms ||
         (counter.late_ms > 0 && BeginOf(counter) + counter.late_ms > now_ms);
}

}  // namespace tally
