// The arithmetic of each limit algorithm on its numbers: exact, in integers.
//
// Each function is told the instant `e_ms` at which the rule is judged: see limit.h. SLIDING has a
// log and no numbers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"

namespace tally {

// The counter's clock: the latest instant that it has counted, as exactly as it is kept. FIXED,
// CALENDAR, ROLLING, BASE and LOCKOUT keep the begin of the window, day or block, since all
// instants in it are judged alike.
inline int64_t ClockOf(const LimitNumbers& numbers, LimitAlgorithm algorithm) {
  const int64_t start_ms = numbers.window.start_ms;
  const bool has_day = algorithm == LimitAlgorithm::kBase || algorithm == LimitAlgorithm::kLockout;
  return has_day ? std::max(start_ms, numbers.day.start_ms) : start_ms;
}

// Reads what was counted after `now_ms` as counted at `now_ms`: the server's clock was set back.
// Changes nothing if ClockOf() is not after `now_ms`.
void SetBackTo(LimitNumbers& numbers, const LimitRule& rule, int64_t now_ms);

// Replaces windows that are over at `e_ms`, which is not before the clock, by empty ones that hold
// `e_ms`; gives a bucket the tokens that came back until `e_ms`. A ROLLING window that is over
// stays while its hits still count.
void Roll(LimitNumbers& numbers, const LimitRule& rule, int64_t e_ms);

// Counts `cost` >= 1 hits of the instant `at_ms` <= `e_ms`. The numbers must be rolled to `e_ms`;
// those of a bucket must not be rolled past `at_ms`, because what is missing at `at_ms` matters.
void AddHits(LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t at_ms,
             int64_t e_ms);

// `cost` tokens in the unit of a bucket's `hits`, 1/period_ms of a token; at most INT64_MAX.
int64_t BucketUnits(const LimitRule& rule, int64_t cost);
// Gives a bucket the tokens that come back until `at_ms`, if `refill` tokens come back each period.
void BringBucketTo(LimitNumbers& numbers, int64_t refill, int64_t at_ms);

// The tokens that are missing in a bucket at `e_ms`, rounded up, and the hits of ROLLING that still
// count at `e_ms`.
int64_t MissingTokens(const LimitNumbers& numbers, int64_t period_ms, int64_t e_ms);
int64_t RollingHits(const LimitNumbers& numbers, int64_t period_ms, int64_t e_ms);

// Returns true if a hit at `at_ms` cannot count in any window of the rule from `e_ms` on; false for
// a bucket, which has no windows. For every algorithm that counts.
bool IsOutside(const LimitRule& rule, int64_t at_ms, int64_t e_ms);

// The functions below take numbers that are rolled to `e_ms`, or a bucket's numbers after AddHits.
// A cost of 0 fits unless more is counted than the rule allows, or ExceedsRule().
bool Fits(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t e_ms);

// True if not even an unused rule would allow `cost` at once. For every algorithm.
bool ExceedsRule(const LimitRule& rule, int64_t cost);

// Hits of cost 1 that would still be allowed at `e_ms`.
int64_t RemainingOf(const LimitNumbers& numbers, const LimitRule& rule, int64_t e_ms);

// What an unused rule would allow at once. For every algorithm but ALLOW.
int64_t CapacityOf(const LimitRule& rule);

// The first instant at which `cost` will fit if nothing more is taken. Only for a cost that does
// not fit at `e_ms`, and for which ExceedsRule() is false.
int64_t EarliestFit(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t e_ms);

}  // namespace tally
