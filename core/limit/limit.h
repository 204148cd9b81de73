// One decision over several limits of several keys, all or nothing.
//
// A hit has an instant `at`, normally `now`, the server's clock.
//  * SLIDING keeps every hit at its place. A hit at `at` is judged at e, the later of `at` and
//    `now`, and counts in a window of length w at e iff e - w < at; hits from the future count.
//  * For every other rule an `at` after `now` is `now`: a client's fast clock opens no new window.
//  * A late hit (at < now) is judged like a hit now and then counted in its own place: in the log
//    at `at`, in the calendar period or aligned window of `at`, in a bucket that has been refilled
//    since `at`. If it is outside every window that it could count in, the reply is the same and
//    nothing is kept. It never lowers what is left by more than its cost.
//
// Rules that differ only in limit, capacity, refill or base share a counter (see limit_state.h),
// which takes a hit once. In one command, whatever the order of its rules, a bucket gets the
// slowest of their refills, and hits count in the windows of BASE from the smallest base on. Where
// the refill has changed, tokens come back at the faster rate until the next hit that is taken, at
// the rule's own from then on: what is back stays, and a faster refill works at once.
//
// The figures of a rule, after the hit where it is allowed and before it where it is denied:
//   limit           what the rule allows at once when it is unused: its limit or capacity; for
//                   BASE the free hits and the limit together
//   remaining       hits of cost 1 that would still be allowed, at least 0
//   reset_after_ms  until the rule is wholly unused again if nothing more is taken. FIXED,
//                   CALENDAR: the window's end. SLIDING: the newest hit leaves. ROLLING: both
//                   counters are over. BUCKET: it is full. BASE: window and day are over.
// "Tightest" is the smallest `remaining`, the earliest of equals. ALLOW has no figures: all are -1
// where no other rule is given. DENY has a limit of 0.
#pragma once

#include <cstdint>
#include <span>

#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"

namespace tally {

enum class LimitMode : uint8_t {
  kTake,   // counts where every rule allows
  kPeek,   // the answer of kTake, counts nothing
  kForce,  // the answer of kTake, counts in any case
};

// The rules of one key, each valid as WrongWith says. The same state may come in several uses:
// its counters take the hit once, and so do counters that several rules share.
struct LimitUse {
  LimitState* state = nullptr;
  std::span<const LimitRule> rules;
};

struct LimitDecision {
  bool allowed = true;
  // Of the tightest rule, or of the first that denied.
  int64_t limit = -1;
  int64_t remaining = -1;
  // 0 if allowed; otherwise the least wait after which every rule would allow the same cost if
  // nothing else is taken; -1 if some rule can never allow it. A hit ahead of the clock waits as
  // much later: its instant moves with it.
  int64_t retry_after_ms = 0;
  int64_t reset_after_ms = -1;
  // The 1-based place, over all uses, of the first rule that denied; 0 if allowed.
  int rule = 0;

  friend bool operator==(const LimitDecision&, const LimitDecision&) = default;
};

// `cost` >= 0; 0 only asks, and changes nothing. `now` and `at` are in
// [0, kMaxInstantMs]. What has expired is forgotten in states that change. O(rules), for SLIDING
// amortised as TimeLog.
LimitDecision DecideLimits(std::span<const LimitUse> uses, int64_t cost, int64_t now, int64_t at,
                           LimitMode mode);

// The reply of redis-cell's CL.THROTTLE (https://github.com/brandur/redis-cell), in seconds rounded
// up; retry_after_s is -1 where the action is allowed and where it can never be.
struct ThrottleReply {
  bool limited = false;
  int64_t limit = 0;
  int64_t remaining = 0;
  int64_t retry_after_s = -1;
  int64_t reset_after_s = 0;

  friend bool operator==(const ThrottleReply&, const ThrottleReply&) = default;
};

// The bucket that `CL.THROTTLE key max_burst count period` means: max_burst + 1 tokens, `count` of
// them back each period. max_burst in [0, INT64_MAX); the result is for WrongWith to judge.
LimitRule ThrottleRule(int64_t max_burst, int64_t count, int64_t period_ms);
ThrottleReply Throttle(LimitState& state, const LimitRule& rule, int64_t quantity, int64_t now);

}  // namespace tally
