// The arithmetic of each limit algorithm on its numbers: exact, in integers.
//
// Hits of an instant within a window are judged at `e`, the later of the server's clock and the
// hit's own instant. Roll brings numbers to `e`; the other functions take rolled numbers.
#pragma once

#include <cstdint>

#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"

namespace tally {

// Empties windows that are over at `e` and begins those of `e`; gives a bucket the tokens that came
// back until then at its former rate. Numbers from the future stay as they are: their hits count.
void Roll(LimitNumbers& numbers, const LimitRule& rule, int64_t e);

// Counts `cost` hits of the instant `at`.
void AddHits(LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t at, int64_t e);

bool Fits(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t e);

// True if not even an unused rule would allow `cost` at once. For every algorithm.
bool NeverFits(const LimitRule& rule, int64_t cost);

// Hits of cost 1 that would still be allowed at `e`.
int64_t RemainingOf(const LimitNumbers& numbers, const LimitRule& rule, int64_t e);

// What an unused rule would allow at once. For every algorithm but ALLOW.
int64_t CapacityOf(const LimitRule& rule);

// The first instant at which `cost`, which does not fit at `e` but could fit, will fit.
int64_t FitsFrom(const LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t e);

}  // namespace tally
