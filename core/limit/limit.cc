#include "core/limit/limit.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/limit/hold_wait.h"
#include "core/limit/holds.h"
#include "core/limit/limit_math.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

struct Hit {
  int64_t cost;
  int64_t now;
  int64_t at;  // not after `now`

  bool is_late() const { return at < now; }
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

// The latest instant that a counter has counted, or kNever. It may be after the server's clock.
int64_t ClockOf(const LimitCounter& counter) {
  if (counter.log == nullptr) return ClockOf(counter.numbers, counter.key.algorithm);
  return counter.log->empty() ? kNever : counter.log->newest();
}

// Whether a late hit would find what counts no more. To others it is the same as nothing, because
// their instant is after it.
bool IsOver(const LimitCounter& counter, const Hit& hit) {
  return hit.is_late() && counter.ExpiresAt() <= hit.now;
}

Verdict JudgeLog(const LimitRule& rule, const LimitCounter* counter, const Hit& hit) {
  const TimeLog* log = counter == nullptr ? nullptr : counter->log.get();
  const int64_t clock = log == nullptr ? kNever : std::min(ClockOf(*counter), hit.now);
  const int64_t e = std::max(hit.at, clock);
  const int64_t after = e - rule.period_ms;
  const auto count = log == nullptr ? 0 : static_cast<int64_t>(log->CountAfter(after));
  Verdict verdict;
  verdict.judged_at = e;
  verdict.limit = rule.limit;
  verdict.fits = !ExceedsRule(rule, hit.cost) && hit.cost <= rule.limit - count;
  verdict.remaining = std::max<int64_t>(0, rule.limit - count - (verdict.fits ? hit.cost : 0));
  int64_t newest = count > 0 ? clock : after;
  if (verdict.fits) {
    if (hit.cost > 0) newest = e;
  } else if (!ExceedsRule(rule, hit.cost)) {
    // The cost fits when this many of the oldest hits have left the window.
    const auto leaving = static_cast<uint64_t>(count - (rule.limit - hit.cost));
    verdict.fits_from = std::min(log->NthAfter(after, leaving), hit.now) + rule.period_ms;
  }
  verdict.unused_from = newest + rule.period_ms;
  return verdict;
}

Verdict JudgeNumbers(const LimitRule& rule, const LimitKey& key, const LimitCounter* counter,
                     const Hit& hit) {
  LimitNumbers numbers;
  int64_t e = hit.at;
  if (counter != nullptr) {
    numbers = counter->numbers;
    int64_t clock = ClockOf(numbers, rule.algorithm);
    if (clock > hit.now) [[unlikely]] {
      SetBackTo(numbers, rule, hit.now);
      clock = ClockOf(numbers, rule.algorithm);
    }
    e = std::max(e, clock);
  }
  Roll(numbers, rule, e);
  Verdict verdict;
  verdict.judged_at = e;
  verdict.limit = CapacityOf(rule);
  verdict.fits = Fits(numbers, rule, hit.cost, e);
  if (verdict.fits && hit.cost > 0) {
    AddHits(numbers, rule, hit.cost, e, e);
  } else if (!verdict.fits && !ExceedsRule(rule, hit.cost)) {
    verdict.fits_from = EarliestFit(numbers, rule, hit.cost, e);
  }
  verdict.remaining = RemainingOf(numbers, rule, e);
  verdict.unused_from = UnusedFrom(key, numbers, e);
  return verdict;
}

// What is held now; nothing of it leaves with time but by deadlines.
Verdict JudgeConcurrent(const LimitRule& rule, const LimitState& state, const Hit& hit) {
  const int64_t held = state.holds() == nullptr ? 0 : state.holds()->concurrent();
  Verdict verdict;
  verdict.judged_at = hit.now;
  verdict.limit = rule.limit;
  verdict.fits = !ExceedsRule(rule, hit.cost) && hit.cost <= rule.limit - held;
  verdict.remaining = std::max<int64_t>(0, rule.limit - held - (verdict.fits ? hit.cost : 0));
  verdict.fits_from = kMaxInstantMs;
  verdict.unused_from = held == 0 ? hit.now : state.holds()->ends_at() - Holds::kRememberedMs;
  return verdict;
}

Verdict JudgeCounter(const LimitRule& rule, const LimitState& state, const Hit& hit) {
  const LimitKey key = LimitKey::Of(rule);
  const LimitCounter* counter = state.Find(key);
  if (counter != nullptr && IsOver(*counter, hit)) counter = nullptr;
  return rule.algorithm == Algorithm::kSliding ? JudgeLog(rule, counter, hit)
                                               : JudgeNumbers(rule, key, counter, hit);
}

Verdict Judge(const LimitRule& rule, const LimitState& state, const Hit& hit) {
  if (rule.algorithm == Algorithm::kDeny) return {.fits = false};
  Verdict verdict = rule.algorithm == Algorithm::kConcurrent ? JudgeConcurrent(rule, state, hit)
                                                             : JudgeCounter(rule, state, hit);
  if (!verdict.fits && state.holds() != nullptr && !ExceedsRule(rule, hit.cost)) {
    // A hold that ends frees what it holds.
    const HoldWait wait{.now = hit.now, .e = verdict.judged_at, .fits_from = verdict.fits_from};
    verdict.fits_from = FitsWhenHoldsEnd(state, rule, hit.cost, wait);
  }
  return verdict;
}

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

// Reads what a counter counted after `now` as counted at `now`, and what arrived after `now` as
// arrived at `now`. Returns false if there is nothing.
bool SetBackTo(LimitCounter& counter, const LimitRule& rule, int64_t now) {
  if (ClockOf(counter) <= now) [[likely]] {
    if (counter.late_ms == 0 || BeginOf(counter) + counter.late_ms <= now) return false;
    counter.late_ms = now - BeginOf(counter);
    return true;
  }
  if (counter.log != nullptr) {
    counter.log->SetBackTo(now);
  } else {
    SetBackTo(counter.numbers, rule, now);
  }
  counter.late_ms = 0;
  return true;
}

// Where a hit is counted: at the instant at which it was judged, or in its own place.
struct HitPlace {
  int64_t at;
  int64_t e;  // no window that is over at this instant gets it
};

void CountLog(LimitCounter& counter, const Hit& hit, const HitPlace& place) {
  // Expired hits are dropped first: a log that is full (INT64_MAX hits) may have only those.
  counter.log->DropThrough(std::max(place.at, ClockOf(counter)) - counter.key.period_ms);
  counter.log->Add(place.at, static_cast<uint64_t>(hit.cost));
  counter.late_ms = hit.now - counter.log->newest();
}

void CountNumbers(LimitCounter& counter, const LimitRule& rule, const Hit& hit,
                  const HitPlace& place) {
  LimitNumbers& numbers = counter.numbers;
  if (rule.algorithm == Algorithm::kBucket) {
    AddHits(numbers, rule, hit.cost, place.at, place.e);
    counter.late_ms = hit.now - numbers.window.start_ms;
    return;
  }
  Roll(numbers, rule, place.e);
  const bool day = HasDay(rule.algorithm, numbers);
  const int64_t start = numbers.window.start_ms;
  const bool used = numbers.hits > 0 || numbers.before > 0;
  AddHits(numbers, rule, hit.cost, place.at, place.e);
  // A window that has hits already keeps how late they were.
  const bool same = day || (used && numbers.window.start_ms == start);
  const int64_t late_ms = hit.now - std::max(place.at, ClockOf(counter));
  counter.late_ms = std::max(same ? counter.late_ms : 0, late_ms);
}

// Whether no window from now on, for hits as late as the counter's, holds the hit.
bool IsDropped(const LimitRule& rule, const LimitState& state, const Hit& hit) {
  const LimitCounter* counter = state.Find(LimitKey::Of(rule));
  int64_t horizon = hit.now;
  if (counter != nullptr && !IsOver(*counter, hit)) {
    const int64_t most_ms = std::max<int64_t>(0, hit.now - BeginOf(*counter));
    horizon -= std::min(counter->late_ms, most_ms);
  }
  return IsOutside(rule, hit.at, horizon);
}

void CountLate(LimitCounter& counter, const LimitRule& rule, const Hit& hit, bool in_own_place) {
  if (IsOver(counter, hit)) counter.Clear();
  SetBackTo(counter, rule, hit.now);
  const int64_t e = std::max(hit.at, ClockOf(counter));
  const HitPlace place =
      in_own_place ? HitPlace{hit.at, std::max(e, hit.now - counter.late_ms)} : HitPlace{e, e};
  if (rule.algorithm == Algorithm::kSliding) {
    CountLog(counter, hit, place);
  } else {
    CountNumbers(counter, rule, hit, place);
  }
}

// What every decision passes is inlined: its calls cost as much as its work.
//
// Does what CountLate does if no hit is late and none is after now, as for nearly all hits.
[[gnu::always_inline]] inline void CountOnTime(LimitCounter& counter, const LimitRule& rule,
                                               const Hit& hit) {
  if (rule.algorithm == Algorithm::kSliding) {
    counter.log->DropThrough(hit.now - counter.key.period_ms);
    counter.log->Add(hit.now, static_cast<uint64_t>(hit.cost));
    return;
  }
  if (rule.algorithm != Algorithm::kBucket) Roll(counter.numbers, rule, hit.now);
  AddHits(counter.numbers, rule, hit.cost, hit.now, hit.now);
}

[[gnu::always_inline]] inline void Count(const LimitRule& rule, LimitState& state, const Hit& hit,
                                         bool in_own_place) {
  if (in_own_place && hit.is_late() && IsDropped(rule, state, hit)) return;
  LimitCounter& counter = state.FindOrAdd(LimitKey::Of(rule));
  if (counter.taken) return;
  counter.taken = true;
  if (hit.is_late() || counter.late_ms > 0 || ClockOf(counter) > hit.now) [[unlikely]] {
    CountLate(counter, rule, hit, in_own_place);
  } else {
    CountOnTime(counter, rule, hit);
  }
}

// Counts a hit and says where.
HoldShare CountShare(const LimitKey& key, const LimitRule& rule, LimitState& state, const Hit& hit,
                     bool in_own_place) {
  HoldShare share{.at = hit.at, .in_window = hit.cost};
  Period window;
  int64_t in_window = 0;
  if (const LimitCounter* counter = state.Find(key); counter != nullptr && !IsOver(*counter, hit)) {
    share.at = std::max(hit.at, std::min(ClockOf(*counter), hit.now));
    window = counter->numbers.window;
    in_window = counter->numbers.hits;
  }
  if (hit.cost > 0) Count(rule, state, hit, in_own_place);
  if (rule.algorithm != Algorithm::kBase || hit.cost == 0) return share;
  const LimitNumbers& numbers = state.FindOrAdd(key).numbers;
  const bool same = in_window > 0 && numbers.window.start_ms == window.start_ms;
  share.in_window = numbers.hits - (same ? in_window : 0);
  return share;
}

// The rules of a command. Rules that share a counter all use the smallest refill and the smallest
// base that one of them has; of LOCKOUT, the block that starts at the smallest limit, and is as
// long as the longest.
class SharedCounterRules {
 public:
  explicit SharedCounterRules(std::span<const LimitUse> uses)
      : uses_(uses), alone_(uses.size() == 1 && uses.front().rules.size() == 1) {}

  // Returns the rule with the agreed values; valid until the next call.
  const LimitRule& Of(const LimitUse& use, const LimitRule& rule) {
    if (alone_) return rule;
    switch (rule.algorithm) {
      case Algorithm::kBucket:
      case Algorithm::kBase:
      case Algorithm::kLockout:
        return Agree(use, rule);
      default:
        return rule;
    }
  }

 private:
  static int64_t OwnBase(const LimitRule& rule) {
    return rule.algorithm == Algorithm::kLockout ? rule.limit : rule.base;
  }

  const LimitRule& Agree(const LimitUse& own, const LimitRule& rule) {
    int64_t refill = rule.refill;
    int64_t base = OwnBase(rule);
    LockoutBlock block = rule.block;
    for (const LimitUse& use : uses_) {
      if (use.state != own.state) continue;
      for (const LimitRule& other : use.rules) {
        if (&other == &rule || other.algorithm != rule.algorithm) continue;
        if (LimitKey::Of(other) != LimitKey::Of(rule)) continue;
        refill = std::min(refill, other.refill);
        base = std::min(base, OwnBase(other));
        block.first_ms = std::max(block.first_ms, other.block.first_ms);
        block.factor = std::max(block.factor, other.block.factor);
        block.most_ms = std::max(block.most_ms, other.block.most_ms);
      }
    }
    if (refill == rule.refill && base == OwnBase(rule) && block == rule.block) return rule;
    // Blocks that do not grow may be longer than the most of those that do.
    if (block.most_ms > 0) block.most_ms = std::max(block.most_ms, block.first_ms);
    agreed_ = rule;
    agreed_->refill = refill;
    agreed_->shared_base = base;
    agreed_->block = block;
    return *agreed_;
  }

  std::span<const LimitUse> uses_;
  bool alone_;
  std::optional<LimitRule> agreed_;
};

[[gnu::always_inline]] inline void CountAll(std::span<const LimitUse> uses,
                                            SharedCounterRules& agreed, const Hit& hit,
                                            bool in_own_place) {
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      if (rule.counts()) Count(agreed.Of(use, rule), *use.state, hit, in_own_place);
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
  const Hit hit{.cost = cost, .now = now, .at = std::min(at, now)};
  SharedCounterRules agreed(uses);
  LimitDecision decision;
  if (mode == LimitMode::kCount) {
    if (cost > 0) CountAll(uses, agreed, hit, false);
    return decision;
  }
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
      const bool never = decision.retry_after_ms < 0 || ExceedsRule(rule, cost);
      decision.retry_after_ms =
          never ? -1 : std::max(decision.retry_after_ms, verdict.fits_from - verdict.judged_at);
    }
  }
  const bool counts = mode == LimitMode::kForce || (mode == LimitMode::kTake && decision.allowed);
  if (counts && cost > 0) CountAll(uses, agreed, hit, mode == LimitMode::kForce);
  return decision;
}

bool SetBackLimits(std::span<const LimitUse> uses, int64_t now) {
  bool changed = false;
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      if (!rule.counts() || use.state->Find(LimitKey::Of(rule)) == nullptr) continue;
      changed |= SetBackTo(use.state->FindOrAdd(LimitKey::Of(rule)), rule, now);
    }
  }
  return changed;
}

HoldPart CountHits(const LimitUse& use, int64_t cost, int64_t now, int64_t at, bool in_own_place) {
  const Hit hit{.cost = cost, .now = now, .at = std::min(at, now)};
  SharedCounterRules agreed({&use, 1});
  HoldPart part{.cost = cost, .at = hit.at, .shares = {}};
  for (const LimitRule& rule : use.rules) {
    if (!rule.counts()) continue;
    const LimitKey key = LimitKey::Of(rule);
    if (const LimitCounter* counter = use.state->Find(key); counter != nullptr && counter->taken) {
      continue;
    }
    part.shares.push_back(CountShare(key, agreed.Of(use, rule), *use.state, hit, in_own_place));
  }
  use.state->EndOperation();
  return part;
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
