#include "core/limit/limit.h"

#include <algorithm>
#include <vector>

#include "core/limit/hold_wait.h"
#include "core/limit/holds.h"
#include "core/limit/late_hits.h"
#include "core/limit/limit_math.h"
#include "core/limit/shared_counter_rules.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

struct Verdict {
  bool fits = true;
  int64_t limit = 0;
  int64_t remaining = 0;
  // Instants: when the hit is judged, from when the cost fits, and from when the rule is unused.
  int64_t judged_at_ms = 0;
  int64_t fits_from_ms = 0;
  int64_t unused_from_ms = 0;
  const LimitCounter* counter = nullptr;  // null if the rule has none yet
  // Whether the hit, and all that the counter has counted, came on time. Then `numbers` would be
  // the counter's, if it has no log, once it has counted the hit.
  bool is_plain = false;
  LimitNumbers numbers = {};
};

// Whether all that a counter with this clock has counted came on time, and the hit does.
bool IsPlain(const LimitCounter& counter, int64_t clock_ms, const Hit& hit) {
  return !hit.is_late() && counter.late_ms == 0 && clock_ms <= hit.now_ms;
}

Verdict JudgeLog(const LimitRule& rule, const LimitCounter* counter, const Hit& hit) {
  const TimeLog* log = counter == nullptr ? nullptr : counter->log.get();
  const int64_t newest_ms = log == nullptr ? kNever : ClockOf(*counter);
  const int64_t clock_ms = std::min(newest_ms, hit.now_ms);
  const int64_t e_ms = std::max(hit.at_ms, clock_ms);
  const int64_t after_ms = e_ms - rule.period_ms;
  const auto count = log == nullptr ? 0 : static_cast<int64_t>(log->CountAfter(after_ms));
  Verdict verdict;
  verdict.judged_at_ms = e_ms;
  verdict.limit = rule.limit;
  verdict.fits = !ExceedsRule(rule, hit.cost) && hit.cost <= rule.limit - count;
  verdict.remaining = std::max<int64_t>(0, rule.limit - count - (verdict.fits ? hit.cost : 0));
  verdict.counter = counter;
  verdict.is_plain = counter == nullptr ? !hit.is_late() : IsPlain(*counter, newest_ms, hit);
  int64_t last_ms = count > 0 ? clock_ms : after_ms;
  if (verdict.fits) {
    if (hit.cost > 0) last_ms = e_ms;
  } else if (!ExceedsRule(rule, hit.cost)) {
    // The cost fits when this many of the oldest hits have left the window.
    const auto leaving = static_cast<uint64_t>(count - (rule.limit - hit.cost));
    verdict.fits_from_ms = std::min(log->NthAfter(after_ms, leaving), hit.now_ms) + rule.period_ms;
  }
  verdict.unused_from_ms = last_ms + rule.period_ms;
  return verdict;
}

Verdict JudgeNumbers(const LimitRule& rule, const LimitKey& key, const LimitCounter* counter,
                     const Hit& hit) {
  Verdict verdict;
  LimitNumbers& numbers = verdict.numbers;
  verdict.counter = counter;
  verdict.is_plain = !hit.is_late();
  int64_t e_ms = hit.at_ms;
  if (counter != nullptr) {
    numbers = counter->numbers;
    int64_t clock_ms = ClockOf(numbers, rule.algorithm);
    verdict.is_plain = IsPlain(*counter, clock_ms, hit);
    if (clock_ms > hit.now_ms) [[unlikely]] {
      SetBackTo(numbers, rule, hit.now_ms);
      clock_ms = ClockOf(numbers, rule.algorithm);
    }
    e_ms = std::max(e_ms, clock_ms);
  }
  Roll(numbers, rule, e_ms);
  verdict.judged_at_ms = e_ms;
  verdict.limit = CapacityOf(rule);
  verdict.fits = Fits(numbers, rule, hit.cost, e_ms);
  if (verdict.fits && hit.cost > 0) {
    AddHits(numbers, rule, hit.cost, e_ms, e_ms);
  } else if (!verdict.fits && !ExceedsRule(rule, hit.cost)) {
    verdict.fits_from_ms = EarliestFit(numbers, rule, hit.cost, e_ms);
  }
  verdict.remaining = RemainingOf(numbers, rule, e_ms);
  verdict.unused_from_ms = UnusedFrom(key, numbers, e_ms);
  return verdict;
}

// What is held now; nothing of it leaves with time but by deadlines.
Verdict JudgeConcurrent(const LimitRule& rule, const LimitState& state, const Hit& hit) {
  const int64_t held = state.concurrent(rule.shadow);
  Verdict verdict;
  verdict.judged_at_ms = hit.now_ms;
  verdict.limit = rule.limit;
  verdict.fits = !ExceedsRule(rule, hit.cost) && hit.cost <= rule.limit - held;
  verdict.remaining = std::max<int64_t>(0, rule.limit - held - (verdict.fits ? hit.cost : 0));
  verdict.fits_from_ms = kMaxInstantMs;
  verdict.unused_from_ms = held == 0 ? hit.now_ms : state.holds()->LatestConcurrent(rule.shadow);
  if (verdict.fits && hit.cost > 0)
    verdict.unused_from_ms = std::max(verdict.unused_from_ms, hit.until_ms);
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
  if (!verdict.fits && state.holds() != nullptr && !rule.shadow && !ExceedsRule(rule, hit.cost)) {
    // A hold that ends frees what it holds.
    const HoldWait wait{
        .now_ms = hit.now_ms, .e_ms = verdict.judged_at_ms, .fits_from_ms = verdict.fits_from_ms};
    verdict.fits_from_ms = FitsWhenHoldsEnd(state, rule, hit.cost, wait);
  }
  return verdict;
}

// Adds a hit that is on time to the log of a counter that is not ahead.
void AddToLog(LimitCounter& counter, const Hit& hit) {
  counter.log->DropThrough(hit.now_ms - counter.key.period_ms);
  counter.log->Add(hit.now_ms, static_cast<uint64_t>(hit.cost));
}

// What every decision passes is inlined: its calls cost as much as its work.
//
// Does what CountLate does if no hit is late and none is after now, as for nearly all hits.
[[gnu::always_inline]] inline void CountOnTime(LimitCounter& counter, const LimitRule& rule,
                                               const Hit& hit) {
  if (rule.algorithm == Algorithm::kSliding) return AddToLog(counter, hit);
  if (rule.algorithm != Algorithm::kBucket) Roll(counter.numbers, rule, hit.now_ms);
  AddHits(counter.numbers, rule, hit.cost, hit.now_ms, hit.now_ms);
}

[[gnu::always_inline]] inline void Count(const LimitRule& rule, LimitState& state, const Hit& hit,
                                         bool in_own_place) {
  if (in_own_place && hit.is_late() && IsDropped(rule, state, hit)) return;
  LimitCounter& counter = state.FindOrAdd(LimitKey::Of(rule));
  if (counter.taken) return;
  counter.taken = true;
  if (IsPlain(counter, ClockOf(counter), hit)) [[likely]] {
    CountOnTime(counter, rule, hit);
  } else {
    CountLate(counter, rule, hit, in_own_place);
  }
}

// Counts a hit that was judged and fits, if its counter is all that the key has, without looking
// for it again: the numbers with which it was judged are those that counting would give. Returns
// false if this is another case.
bool CountJudged(const LimitRule& rule, LimitState& state, const Verdict& verdict, const Hit& hit) {
  const bool is_new = verdict.counter == nullptr;
  if (!verdict.is_plain || state.counters().size() != (is_new ? 0 : 1)) return false;
  LimitCounter& counter = is_new ? state.FindOrAdd(LimitKey::Of(rule)) : state.counters().front();
  if (counter.log == nullptr) {
    counter.numbers = verdict.numbers;
  } else {
    AddToLog(counter, hit);
  }
  return true;
}

// Counts a hit and says where. `counter` is that of the rule, null if there is none yet.
HoldShare CountShare(const LimitCounter* counter, const LimitRule& rule, LimitState& state,
                     const Hit& hit, bool in_own_place) {
  HoldShare share{.at_ms = hit.at_ms, .in_window = hit.cost};
  Period window;
  int64_t in_window = 0;
  if (counter != nullptr && !IsOver(*counter, hit)) {
    share.at_ms = std::max(hit.at_ms, std::min(ClockOf(*counter), hit.now_ms));
    window = counter->numbers.window;
    in_window = counter->numbers.hits;
  }
  if (hit.cost > 0) Count(rule, state, hit, in_own_place);
  if (rule.algorithm != Algorithm::kBase || hit.cost == 0) return share;
  const LimitNumbers& numbers = state.FindOrAdd(LimitKey::Of(rule)).numbers;
  const bool same = in_window > 0 && numbers.window.start_ms == window.start_ms;
  share.in_window = numbers.hits - (same ? in_window : 0);
  return share;
}

[[gnu::always_inline]] inline void CountAll(std::span<const LimitUse> uses,
                                            SharedCounterRules& agreed, const Hit& hit,
                                            bool in_own_place) {
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      if (rule.counts()) Count(agreed.Of(use, rule), *use.state, hit, in_own_place);
    }
  }
  for (const LimitUse& use : uses) {
    const size_t counted = use.state->EndOperation();
    // A key in which nothing has counted has no effect, and stays as it is: or else what the
    // effects give elsewhere, and a clock that is set back, would show what was forgotten here
    // only.
    if (counted > 0 && counted < use.state->counters().size()) use.state->Prune(hit.now_ms);
  }
}

// Counts the hit but in the rules that would have denied it.
void CountAllowed(std::span<const LimitUse> uses, uint64_t shadow_denied, const Hit& hit) {
  std::vector<HoldRules> rules;
  std::vector<LimitUse> counting;
  ForEachCounted(uses, shadow_denied, [&](const LimitUse& use, std::span<const LimitRule> left) {
    rules.emplace_back(left.begin(), left.end());
    counting.push_back({use.state, {}});
  });
  for (size_t i = 0; i < counting.size(); ++i) counting[i].rules = rules[i];
  SharedCounterRules agreed(counting);
  CountAll(counting, agreed, hit, false);
}

void ShowFigures(const Verdict& verdict, LimitDecision& decision) {
  decision.limit = verdict.limit;
  decision.remaining = verdict.remaining;
  decision.reset_after_ms = std::max<int64_t>(0, verdict.unused_from_ms - verdict.judged_at_ms);
}

}  // namespace

LimitDecision DecideLimits(std::span<const LimitUse> uses, int64_t cost, int64_t now_ms,
                           int64_t at_ms, LimitMode mode, int64_t until_ms) {
  const Hit hit{
      .cost = cost, .now_ms = now_ms, .at_ms = std::min(at_ms, now_ms), .until_ms = until_ms};
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
      if (!given.judges()) continue;
      const LimitRule& rule = agreed.Of(use, given);
      const Verdict verdict = Judge(rule, *use.state, hit);
      if (rule.shadow) [[unlikely]] {
        if (!verdict.fits && place <= kMostShadows) {
          decision.shadow_denied |= uint64_t{1} << (place - 1);
        }
        continue;
      }
      const bool tighter = decision.remaining < 0 || verdict.remaining < decision.remaining;
      const bool shows_tightest = verdict.fits || mode == LimitMode::kShow;
      if (decision.allowed && (tighter || !shows_tightest)) ShowFigures(verdict, decision);
      if (verdict.fits && mode == LimitMode::kTake && cost > 0 && agreed.alone() &&
          CountJudged(rule, *use.state, verdict, hit)) {
        return decision;
      }
      if (shows_tightest) continue;
      if (decision.allowed) decision.rule = place;
      decision.allowed = false;
      const bool never = decision.retry_after_ms < 0 || ExceedsRule(rule, cost);
      decision.retry_after_ms =
          never ? -1
                : std::max(decision.retry_after_ms, verdict.fits_from_ms - verdict.judged_at_ms);
    }
  }
  const bool counts = mode == LimitMode::kForce || (mode == LimitMode::kTake && decision.allowed);
  if (!counts || cost == 0) return decision;
  if (decision.shadow_denied != 0 && mode == LimitMode::kTake) [[unlikely]] {
    CountAllowed(uses, decision.shadow_denied, hit);
  } else {
    CountAll(uses, agreed, hit, mode == LimitMode::kForce);
  }
  return decision;
}

bool SetBackLimits(std::span<const LimitUse> uses, int64_t now_ms) {
  bool changed = false;
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      if (!rule.counts() || use.state->Find(LimitKey::Of(rule)) == nullptr) continue;
      changed |= SetBackTo(use.state->FindOrAdd(LimitKey::Of(rule)), rule, now_ms);
    }
  }
  return changed;
}

HoldPart CountHits(const LimitUse& use, int64_t cost, int64_t now_ms, int64_t at_ms,
                   bool in_own_place) {
  const Hit hit{.cost = cost, .now_ms = now_ms, .at_ms = std::min(at_ms, now_ms)};
  SharedCounterRules agreed({&use, 1});
  HoldPart part{.cost = cost, .at_ms = hit.at_ms, .shares = {}};
  for (const LimitRule& rule : use.rules) {
    if (!rule.counts()) continue;
    const LimitKey key = LimitKey::Of(rule);
    const LimitCounter* counter = use.state->Find(key);
    if (counter != nullptr && counter->taken) continue;
    part.shares.push_back(CountShare(counter, agreed.Of(use, rule), *use.state, hit, in_own_place));
  }
  use.state->EndOperation();
  return part;
}

}  // namespace tally
