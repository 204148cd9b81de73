// LOCKOUT: at most `limit` hits in a period that begins with the first; the hit that uses the last
// one starts a block, in which all are denied. See LimitNumbers for what each number means.
//
// A block ends the period: after it the next hit opens a new one. Hits that are forced in a block
// count nothing, so that nothing lengthens it. To give back hits of a block's period ends the
// block, because it would not have begun without them; the next block is then as long as that one
// was.
#pragma once

#include <cstdint>

#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"

namespace tally {

// Whether a block is on at `e_ms`.
bool IsBlocked(const LimitNumbers& numbers, int64_t e_ms);

// Forgets a period that is over at `e_ms` or that a block has ended, and a block that is remembered
// no more.
void RollLockout(LimitNumbers& numbers, int64_t e_ms);

// Counts `cost` >= 1 hits of the instant `at_ms` <= `e_ms`; if they use the last one, a block
// starts at `e_ms`. The numbers must be rolled to `e_ms`.
void AddToLockout(LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t at_ms,
                  int64_t e_ms);

// Gives back hits of the period that is open at `e_ms`, or that a block which is on at `e_ms` has
// ended.
void GiveToLockout(LimitNumbers& numbers, int64_t count, int64_t e_ms);

// Reads what was counted after `now_ms` as counted at `now_ms`; a block that begins later begins
// then.
void SetLockoutBackTo(LimitNumbers& numbers, int64_t period_ms, int64_t now_ms);

// From when on the whole limit is there: the end of the block that is on at `e_ms`, or of the
// period. 0 if it is there.
int64_t LockoutUnusedFrom(const LimitNumbers& numbers, int64_t e_ms);

// From when on nothing is remembered; 0 if nothing is.
int64_t LockoutExpiry(const LimitNumbers& numbers);

}  // namespace tally
