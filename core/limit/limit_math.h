// The arithmetic of each limit algorithm on its numbers: exact, in integers.
//
// Hits are judged at `now`, the server's clock, and counted at their own instant `at`, which must
// not be after `now`. SLIDING has a log and no numbers.
#pragma once

#include <cstdint>

#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"

namespace tally {

// Replaces windows that are over at `now` by empty ones that hold `now`; gives a bucket the tokens
// that came back until `now`. Numbers from the future (the clock was set back) stay: their hits
// count.
void Roll(LimitNumbers& numbers, const LimitRule& rule, int64_t now);

// Counts `cost` >= 1 hits of the instant `at`. The numbers must be rolled to `now`; those of a
// bucket must not be rolled past `at`, because what is missing at `at` matters.
void AddHits(LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t at, int64_t now);

// `cost` tokens in the unit of a bucket's `hits`, 1/period_ms of a token; at most INT64_MAX.
int64_t BucketUnits(const LimitRule& rule, int64_t cost);
// Gives a bucket the tokens that come back until `at`, if `refill` tokens come back each period.
void BringBucketTo(LimitNumbers& numbers, int64_t refill, int64_t at);

// The tokens that are missing in a bucket at `now`, and the weighted hits of ROLLING at `now`. Both
// are rounded up.
int64_t MissingTokens(const LimitNumbers& numbers, int64_t period_ms, int64_t now);
int64_t WeightedHits(const LimitNumbers& numbers, int64_t period_ms, int64_t now);

// Returns true if a hit at `at` cannot count in any window of the rule from `now` on; false for a
// bucket, which has no windows. For every algorithm that counts.
bool IsOutside(const LimitRule& rule, int64_t at, int64_t now);

// The functions below take numbers that are rolled to `now`, or a bucket's numbers after AddHits.
// A cost of 0 fits unless more is counted than the rule allows, or NeverFits().
bool Fits(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t now);

// True if not even an unused rule would allow `cost` at once. For every algorithm.
bool NeverFits(const LimitRule& rule, int64_t cost);

// Hits of cost 1 that would still be allowed at `now`.
int64_t RemainingOf(const LimitNumbers& numbers, const LimitRule& rule, int64_t now);

// What an unused rule would allow at once. For every algorithm but ALLOW.
int64_t CapacityOf(const LimitRule& rule);

// The first instant at which `cost` will fit if nothing more is taken. Only for a cost that does
// not fit at `now`, and for which NeverFits() is false.
int64_t FitsFrom(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t now);

}  // namespace tally
