// HOLDS longest [share]: how long a hold may last, and how much of a limit it may take, so that who
// reserves and does not use it takes little from others.
#pragma once

#include <cstdint>
#include <span>

#include "core/limit/limit.h"

namespace tally {

// The shortest `longest` of the HOLDS among the rules; kMaxHoldMs if there is none.
int64_t LongestHold(std::span<const LimitUse> uses);

// Denies a hold of `cost` if it takes a larger share of a limit of the same key than a HOLDS
// allows. A hold of 1 never does. It can never fit then: the figures are those of what would.
void JudgeHoldShare(std::span<const LimitUse> uses, int64_t cost, LimitDecision& decision);

}  // namespace tally
