#include "core/limit/limit.h"

#include <algorithm>
#include <optional>

#include "core/limit/limit_math.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

struct Hit {
  int64_t cost;
  int64_t now;
  int64_t at;

  // The hit for a rule other than SLIDING: an `at` after `now` becomes `now`.
  Hit NotAhead() const { return {cost, now, std::min(at, now)}; }
};

struct Verdict {
  bool fits = true;
  int64_t limit = 0;
  int64_t remaining = 0;
  // Instants: when the hit is judged, from when the cost fits, and from when the rule is unused.
  int64_t judged_at = 0;
  int64_t fits_from = 0;
  int64_t unused_from = 0;
};

Verdict JudgeLog(const LimitRule& rule, const LimitCounter* counter, const Hit& hit) {
  const int64_t e = std::max(hit.now, hit.at);
  const int64_t after = e - rule.period_ms;
  const TimeLog* log = counter == nullptr ? nullptr : counter->log.get();
  const auto count = log == nullptr ? 0 : static_cast<int64_t>(log->CountAfter(after));
  Verdict verdict;
  verdict.judged_at = e;
  verdict.limit = rule.limit;
  verdict.fits = !NeverFits(rule, hit.cost) && hit.cost <= rule.limit - count;
  verdict.remaining = std::max<int64_t>(0, rule.limit - count - (verdict.fits ? hit.cost : 0));
  int64_t newest = count > 0 ? log->newest() : after;
  if (verdict.fits) {
    if (hit.cost > 0) newest = std::max(newest, hit.at > after ? hit.at : e);
  } else if (!NeverFits(rule, hit.cost)) {
    // The cost fits when this many of the oldest hits have left the window.
    const auto leaving = static_cast<uint64_t>(count - (rule.limit - hit.cost));
    verdict.fits_from = log->NthAfter(after, leaving) + rule.period_ms;
  }
  verdict.unused_from = newest + rule.period_ms;
  return verdict;
}

Verdict JudgeNumbers(const LimitRule& rule, const LimitKey& key, const LimitCounter* counter,
                     const Hit& hit) {
  LimitNumbers numbers = counter == nullptr ? LimitNumbers() : counter->numbers;
  Roll(numbers, rule, hit.now);
  Verdict verdict;
  verdict.judged_at = hit.now;
  verdict.limit = CapacityOf(rule);
  verdict.fits = Fits(numbers, rule, hit.cost, hit.now);
  if (verdict.fits && hit.cost > 0) {
    // For a hit that will not be kept, the figures are those of a hit at `now`.
    const int64_t place = IsOutside(rule, hit.at, hit.now) ? hit.now : hit.at;
    const bool late_in_bucket = rule.algorithm == Algorithm::kBucket && hit.at < hit.now;
    if (late_in_bucket) numbers = counter == nullptr ? LimitNumbers() : counter->numbers;
    AddHits(numbers, rule, hit.cost, place, hit.now);
  } else if (!verdict.fits && !NeverFits(rule, hit.cost)) {
    verdict.fits_from = FitsFrom(numbers, rule, hit.cost, hit.now);
  }
  verdict.remaining = RemainingOf(numbers, rule, hit.now);
  verdict.unused_from = ExpiryOf(key, numbers);
  return verdict;
}

Verdict Judge(const LimitRule& rule, const LimitState& state, const Hit& hit) {
  if (rule.algorithm == Algorithm::kDeny) return {.fits = false};
  const LimitKey key = LimitKey::Of(rule);
  const LimitCounter* counter = state.Find(key);
  return rule.algorithm == Algorithm::kSliding ? JudgeLog(rule, counter, hit)
                                               : JudgeNumbers(rule, key, counter, hit.NotAhead());
}

void CountNumbers(const LimitRule& rule, LimitNumbers& numbers, const Hit& hit) {
  if (rule.algorithm != Algorithm::kBucket) Roll(numbers, rule, hit.now);
  AddHits(numbers, rule, hit.cost, hit.at, hit.now);
}

void Count(const LimitRule& rule, LimitState& state, const Hit& hit) {
  if (IsOutside(rule, hit.at, hit.now)) return;
  LimitCounter& counter = state.FindOrAdd(LimitKey::Of(rule));
  if (counter.taken) return;
  counter.taken = true;
  if (rule.algorithm == Algorithm::kSliding) {
    // Expired hits are dropped first: a log that is full (INT64_MAX hits) may have only those.
    counter.log->DropThrough(hit.now - rule.period_ms);
    counter.log->Add(hit.at, static_cast<uint64_t>(hit.cost));
  } else {
    CountNumbers(rule, counter.numbers, hit.NotAhead());
  }
}

// The rules of a command. Rules that share a counter all use the smallest refill and the smallest
// base that one of them has.
class AgreedRules {
 public:
  explicit AgreedRules(std::span<const LimitUse> uses)
      : uses_(uses), alone_(uses.size() == 1 && uses.front().rules.size() == 1) {}

  // Returns the rule with the agreed values; valid until the next call.
  const LimitRule& Of(const LimitUse& use, const LimitRule& rule) {
    if (alone_) return rule;
    const bool may_differ =
        rule.algorithm == Algorithm::kBucket || rule.algorithm == Algorithm::kBase;
    return may_differ ? Agree(use, rule) : rule;
  }

 private:
  const LimitRule& Agree(const LimitUse& own, const LimitRule& rule) {
    int64_t refill = rule.refill;
    int64_t base = rule.base;
    for (const LimitUse& use : uses_) {
      if (use.state != own.state) continue;
      for (const LimitRule& other : use.rules) {
        if (&other == &rule || other.algorithm != rule.algorithm) continue;
        if (LimitKey::Of(other) != LimitKey::Of(rule)) continue;
        refill = std::min(refill, other.refill);
        base = std::min(base, other.base);
      }
    }
    if (refill == rule.refill && base == rule.base) return rule;
    agreed_ = rule;
    agreed_->refill = refill;
    agreed_->shared_base = base;
    return *agreed_;
  }

  std::span<const LimitUse> uses_;
  bool alone_;
  std::optional<LimitRule> agreed_;
};

void CountAll(std::span<const LimitUse> uses, AgreedRules& agreed, const Hit& hit) {
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      if (rule.counts()) Count(agreed.Of(use, rule), *use.state, hit);
    }
  }
  for (const LimitUse& use : uses) {
    use.state->EndOperation();
    use.state->Prune(hit.now);
  }
}

void ShowFigures(const Verdict& verdict, LimitDecision& decision) {
  decision.limit = verdict.limit;
  decision.remaining = verdict.remaining;
  decision.reset_after_ms = std::max<int64_t>(0, verdict.unused_from - verdict.judged_at);
}

int64_t SecondsUp(int64_t ms) { return ms / 1000 + (ms % 1000 != 0 ? 1 : 0); }

}  // namespace

LimitDecision DecideLimits(std::span<const LimitUse> uses, int64_t cost, int64_t now, int64_t at,
                           LimitMode mode) {
  const Hit hit{.cost = cost, .now = now, .at = at};
  AgreedRules agreed(uses);
  LimitDecision decision;
  int place = 0;
  for (const LimitUse& use : uses) {
    for (const LimitRule& given : use.rules) {
      ++place;
      if (given.algorithm == Algorithm::kAllow) continue;
      const LimitRule& rule = agreed.Of(use, given);
      const Verdict verdict = Judge(rule, *use.state, hit);
      const bool tighter = decision.remaining < 0 || verdict.remaining < decision.remaining;
      if (verdict.fits ? decision.allowed && tighter : decision.allowed) {
        ShowFigures(verdict, decision);
      }
      if (verdict.fits) continue;
      if (decision.allowed) decision.rule = place;
      decision.allowed = false;
      const bool never = decision.retry_after_ms < 0 || NeverFits(rule, cost);
      decision.retry_after_ms =
          never ? -1 : std::max(decision.retry_after_ms, verdict.fits_from - verdict.judged_at);
    }
  }
  const bool counts = mode == LimitMode::kForce || (mode == LimitMode::kTake && decision.allowed);
  if (counts && cost > 0) CountAll(uses, agreed, hit);
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
