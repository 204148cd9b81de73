// One decision over several limits of several keys, all or nothing.
//
// A hit has an instant `at_ms`, normally `now_ms`, the server's clock; an `at_ms` after `now_ms` is
// `now_ms`. What decides goes by event time: each counter has a clock, the latest instant that it
// has counted, and a hit is judged and counted at e (`e_ms` below), the later of `at_ms` and that
// clock. So a counter never goes back, and no window of event time holds more than its limit,
// however late hits are.
//  * A counter lives as much longer as its hits were late (LimitCounter::late_ms), so that the next
//    late hit finds it. One that has outlived that is as good as none.
//  * kForce counts a hit in its own place: in the log at `at_ms`, in the open window even if it is
//    before it. If it is outside every window in which the hit could count, nothing is kept.
//  * A hit never lowers what is left at e by more than its cost. What is left at `now_ms` neither,
//    but in two cases in which a late hit may also take what has come back since e: when it begins
//    a window of ROLLING, whose earlier hits then leave evenly from e on (when each of them came is
//    not known any more); and when a bucket's refill has become slower, which then holds from e on
//    (it has one rate at a time, and a queue that is always late would never get the new one).
//  * What was counted after `now_ms` was counted before the clock was set back. It is read as
//    counted at `now_ms`, and whatever counts hits stores it so; see SetBackLimits.
//
// Rules that differ only in limit, capacity, refill or base share a counter (see limit_state.h),
// which counts the hit of a command once. The order of such rules in a command does not matter: a
// bucket gets the smallest of their refills, and hits count in the window of BASE from the smallest
// base on; a block starts at the smallest limit and is as long as the longest. If a bucket's refill
// has changed since the last hit that was taken, tokens come back at the faster of the two rates
// until the next hit is taken, and at the rule's own rate after it. So tokens that are back stay,
// and a faster refill works at once.
//
// The figures of a rule are those after the hit if the rule allows it, and before it if not:
//   limit           what the rule allows at once when it is unused: its limit or capacity; for
//                   BASE the free hits (those before the base-th of the day) and the limit
//                   together, and at least the base
//   remaining       hits of cost 1 that would still be allowed, at least 0
//   reset_after_ms  ms from e until the rule is wholly unused again if nothing more is taken.
//   FIXED,
//                   CALENDAR: until the window ends. SLIDING: until the newest hit leaves. ROLLING:
//                   until no hit counts. BUCKET: until it is full. BASE: until window and day are
//                   over. LOCKOUT: until the block ends, or else the period; an earlier block,
//                   which lengthens the next one, is no use.
// The tightest rule is the one with the smallest `remaining`; of equals, the first. ALLOW has no
// figures: if no other rule is given, all are -1. DENY has a limit of 0. SHADOW has none either,
// whatever it says: a caller must not keep to a limit that does not hold.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <span>

#include "core/limit/hold_record.h"
#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"

namespace tally {

enum class LimitMode : uint8_t {
  kTake,   // counts the hit if every rule allows it
  kPeek,   // answers as kTake, but counts nothing
  kForce,  // answers as kTake, but counts the hit in any case, in its own place
  kCount,  // counts as kTake without judging, for a replay; the decision has no meaning
  kShow,   // the figures of the tightest rule, allowed whatever the rules say; counts nothing
};

// The rules of one key, each valid (see ValidationError), and its state. The same state may be in
// several uses. A counter counts the hit once, also if several uses or rules share it.
struct LimitUse {
  LimitState* state = nullptr;
  std::span<const LimitRule> rules;
};

inline constexpr int kMostShadows = 64;

struct LimitDecision {
  bool allowed = true;
  // The figures (see above) of the first rule that denied; if allowed, of the tightest rule.
  int64_t limit = -1;
  int64_t remaining = -1;
  // 0 if allowed. Otherwise the shortest wait after which every rule would allow the same cost if
  // nothing else is taken, counted from e, or -1 if some rule can never allow it.
  int64_t retry_after_ms = 0;
  int64_t reset_after_ms = -1;
  // The 1-based number, over all uses, of the first rule that denied; 0 if allowed.
  int rule = 0;
  // Bit i: rule i + 1, in SHADOW, would have denied the hit, and has not counted it, but for
  // kForce. Rules after the kMostShadows-th never would.
  uint64_t shadow_denied = 0;

  friend bool operator==(const LimitDecision&, const LimitDecision&) = default;
};

// `cost` is >= 0; 0 only asks, and changes nothing. `now_ms` and `at_ms` are in [0, kMaxInstantMs].
// What is to be held has a deadline, `until_ms`, by which CONCURRENT is unused again. States that
// change also forget what has expired. O(rules), but each BUCKET or BASE rule is compared with all
// others; SLIDING costs as TimeLog, amortised.
LimitDecision DecideLimits(std::span<const LimitUse> uses, int64_t cost, int64_t now_ms,
                           int64_t at_ms, LimitMode mode, int64_t until_ms = 0);

// Calls visit(use, rules) for each use, in their order, with those of its rules that have counted
// the hit of such a decision.
template <typename Uses, typename Visit>
void ForEachCounted(const Uses& uses, uint64_t shadow_denied, Visit&& visit) {
  absl::InlinedVector<LimitRule, 4> rules;
  for (const auto& use : uses) {
    rules.clear();
    for (const LimitRule& rule : use.rules) {
      if ((shadow_denied & 1) == 0) rules.push_back(rule);
      shadow_denied >>= 1;
    }
    visit(use, std::span<const LimitRule>(rules));
  }
}

// Stores what the counters of these rules counted after `now_ms` as counted at `now_ms`. Returns
// whether anything has changed. A denial does this too: or else a counter from a glitch of the
// clock would be read as new again and again, and deny until the clock shows its instant.
bool SetBackLimits(std::span<const LimitUse> uses, int64_t now_ms);

// Whether a counter has counted something after `now_ms`, or something that arrived after `now_ms`.
bool IsAhead(const LimitCounter& counter, int64_t now_ms);

// Counts hits under the rules of one key, each counter once, and returns where. In their own place,
// as kForce does, or at the instant at which they are judged.
HoldPart CountHits(const LimitUse& use, int64_t cost, int64_t now_ms, int64_t at_ms,
                   bool in_own_place);

}  // namespace tally
