#include "core/limit/limit.h"

#include <algorithm>

#include "core/limit/limit_math.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

struct Hit {
  int64_t cost;
  int64_t now;
  int64_t at;
  // The instant of judgement.
  int64_t e;
};

struct Verdict {
  bool fits = true;
  int64_t limit = 0;
  int64_t remaining = 0;
  int64_t fits_from = 0;
  int64_t unused_from = 0;
};

bool HasState(const LimitRule& rule) {
  return rule.algorithm != Algorithm::kAllow && rule.algorithm != Algorithm::kDeny;
}

// True if a hit at `at` can count in no window of the rule from `now` on. A bucket forgets by
// itself.
bool IsOutside(const LimitRule& rule, int64_t at, int64_t now) {
  if (at >= now || rule.algorithm == Algorithm::kBucket) return false;
  switch (rule.algorithm) {
    case Algorithm::kCalendar:
      return PeriodContaining(at, rule.unit, rule.week_start, rule.zone->time_zone()).end_ms <= now;
    case Algorithm::kBase:
      return at < rule.zone->Containing(now, CalendarUnit::kDay).start_ms;
    default:
      return at <= now - rule.period_ms;
  }
}

Verdict JudgeLog(const LimitRule& rule, const LimitCounter* counter, const Hit& hit) {
  const int64_t after = hit.e - rule.period_ms;
  const TimeLog* log = counter == nullptr ? nullptr : counter->log.get();
  const auto count = log == nullptr ? 0 : static_cast<int64_t>(log->CountAfter(after));
  Verdict verdict;
  verdict.limit = rule.limit;
  verdict.fits = !NeverFits(rule, hit.cost) && hit.cost <= rule.limit - count;
  verdict.remaining = std::max<int64_t>(0, rule.limit - count - (verdict.fits ? hit.cost : 0));
  int64_t newest = count > 0 ? log->newest() : after;
  if (verdict.fits) {
    if (hit.cost > 0) newest = std::max(newest, hit.at > after ? hit.at : hit.e);
  } else if (!NeverFits(rule, hit.cost)) {
    // As many of the oldest must leave as there are too many.
    const auto leaving = static_cast<uint64_t>(count - (rule.limit - hit.cost));
    verdict.fits_from = log->NthAfter(after, leaving) + rule.period_ms;
  }
  verdict.unused_from = newest + rule.period_ms;
  return verdict;
}

Verdict JudgeNumbers(const LimitRule& rule, const LimitCounter* counter, const Hit& hit) {
  LimitNumbers numbers = counter == nullptr ? LimitNumbers() : counter->numbers;
  Roll(numbers, rule, hit.e);
  Verdict verdict;
  verdict.limit = CapacityOf(rule);
  verdict.fits = Fits(numbers, rule, hit.cost, hit.e);
  if (verdict.fits) {
    const int64_t place = IsOutside(rule, hit.at, hit.now) ? hit.e : hit.at;
    AddHits(numbers, rule, hit.cost, place, hit.e);
  } else if (!NeverFits(rule, hit.cost)) {
    verdict.fits_from = FitsFrom(numbers, rule, hit.cost, hit.e);
  }
  verdict.remaining = RemainingOf(numbers, rule, hit.e);
  verdict.unused_from = ExpiryOf(LimitKey::Of(rule), numbers);
  return verdict;
}

Verdict Judge(const LimitRule& rule, const LimitState& state, const Hit& hit) {
  if (rule.algorithm == Algorithm::kDeny) return {.fits = false};
  const LimitCounter* counter = state.Find(LimitKey::Of(rule));
  return rule.algorithm == Algorithm::kSliding ? JudgeLog(rule, counter, hit)
                                               : JudgeNumbers(rule, counter, hit);
}

void Count(const LimitRule& rule, LimitState& state, const Hit& hit) {
  if (IsOutside(rule, hit.at, hit.now)) return;
  LimitCounter& counter = state.FindOrAdd(LimitKey::Of(rule));
  if (counter.taken) return;
  counter.taken = true;
  if (rule.algorithm == Algorithm::kSliding) {
    counter.log->Add(hit.at, static_cast<uint64_t>(hit.cost));
    return;
  }
  // A late hit has been draining from a bucket since its own instant.
  Roll(counter.numbers, rule, rule.algorithm == Algorithm::kBucket ? hit.at : hit.e);
  AddHits(counter.numbers, rule, hit.cost, hit.at, hit.e);
}

void CountAll(std::span<const LimitUse> uses, const Hit& hit) {
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      if (HasState(rule)) Count(rule, *use.state, hit);
    }
  }
  for (const LimitUse& use : uses) {
    use.state->EndOperation();
    use.state->Prune(hit.now);
  }
}

void ShowFigures(const Verdict& verdict, int64_t e, LimitDecision& decision) {
  decision.limit = verdict.limit;
  decision.remaining = verdict.remaining;
  decision.reset_after_ms = std::max<int64_t>(0, verdict.unused_from - e);
}

int64_t SecondsUp(int64_t ms) { return ms / 1000 + (ms % 1000 != 0 ? 1 : 0); }

}  // namespace

LimitDecision DecideLimits(std::span<const LimitUse> uses, int64_t cost, int64_t now, int64_t at,
                           LimitMode mode) {
  const Hit hit{.cost = cost, .now = now, .at = at, .e = std::max(now, at)};
  LimitDecision decision;
  int place = 0;
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      ++place;
      if (rule.algorithm == Algorithm::kAllow) continue;
      const Verdict verdict = Judge(rule, *use.state, hit);
      const bool tighter = decision.remaining < 0 || verdict.remaining < decision.remaining;
      if (verdict.fits ? decision.allowed && tighter : decision.allowed) {
        ShowFigures(verdict, hit.e, decision);
      }
      if (verdict.fits) continue;
      if (decision.allowed) decision.rule = place;
      decision.allowed = false;
      const bool never = decision.retry_after_ms < 0 || NeverFits(rule, cost);
      decision.retry_after_ms =
          never ? -1 : std::max(decision.retry_after_ms, verdict.fits_from - hit.e);
    }
  }
  const bool counts = mode == LimitMode::kForce || (mode == LimitMode::kTake && decision.allowed);
  if (counts && cost > 0) CountAll(uses, hit);
  return decision;
}

LimitRule ThrottleRule(int64_t max_burst, int64_t count, int64_t period_ms) {
  return LimitRule::Bucket(max_burst + 1, count, period_ms);
}

ThrottleReply Throttle(LimitState& state, const LimitRule& rule, int64_t quantity, int64_t now) {
  const LimitUse use{&state, {&rule, 1}};
  const LimitDecision decision = DecideLimits({&use, 1}, quantity, now, now, LimitMode::kTake);
  ThrottleReply reply;
  reply.limited = !decision.allowed;
  reply.limit = decision.limit;
  reply.remaining = decision.remaining;
  if (decision.retry_after_ms > 0) reply.retry_after_s = SecondsUp(decision.retry_after_ms);
  reply.reset_after_s = SecondsUp(decision.reset_after_ms);
  return reply;
}

}  // namespace tally
