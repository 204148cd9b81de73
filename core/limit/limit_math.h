// The arithmetic of each limit algorithm on its numbers: exact, in integers.
//
// Hits are judged at the server's clock, `now`, and counted in the place of their own instant,
// `at`, which is not after it. SLIDING has a log and no numbers.
#pragma once

#include <cstdint>

#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"

namespace tally {

// Empties windows that are over at `now` and begins those of `now`; gives a bucket the tokens that
// came back until then. Numbers from the future (the clock was set back) stay: their hits count.
void Roll(LimitNumbers& numbers, const LimitRule& rule, int64_t now);

// Counts `cost` hits, at least one, of the instant `at`. Numbers are rolled to `now`, except a
// bucket's, where what is missing at `at` matters.
void AddHits(LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t at, int64_t now);

// What `cost` tokens are in a bucket's numbers.
int64_t BucketUnits(const LimitRule& rule, int64_t cost);
// Gives a bucket what comes back until `at` at `refill` tokens each period.
void BringBucketTo(LimitNumbers& numbers, int64_t refill, int64_t at);

// Tokens that a bucket misses at `now`, and hits that count in ROLLING's windows; rounded up.
int64_t MissingTokens(const LimitNumbers& numbers, int64_t period_ms, int64_t now);
int64_t WeightedHits(const LimitNumbers& numbers, int64_t period_ms, int64_t now);

// True if a hit at `at` can count in no window of the rule from `now` on. For every algorithm; a
// bucket has no windows.
bool IsOutside(const LimitRule& rule, int64_t at, int64_t now);

// The other functions take rolled numbers, or a bucket's after AddHits.
// A cost of 0 fits while no more is counted than the rule allows.
bool Fits(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t now);

// True if not even an unused rule would allow `cost` at once. For every algorithm.
bool NeverFits(const LimitRule& rule, int64_t cost);

// Hits of cost 1 that would still be allowed at `now`.
int64_t RemainingOf(const LimitNumbers& numbers, const LimitRule& rule, int64_t now);

// What an unused rule would allow at once. For every algorithm but ALLOW.
int64_t CapacityOf(const LimitRule& rule);

// The first instant at which `cost`, which does not fit at `now` but could fit, will fit.
int64_t FitsFrom(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t now);

}  // namespace tally
