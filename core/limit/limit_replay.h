// Counts what an older log says was taken, as the version that wrote it did, so that the state is
// the one that it gave.
//
// Those versions took the following for other than DecideLimits does:
//  * A hit ahead of the clock was counted as if the clock showed its instant, by every rule.
//  * A bucket took a late hit at its instant and had the rule's refill from then on; one that was
//    full again was not forgotten while its key held anything else.
//  * Of rules that share a counter the first one's refill or base was used.
#pragma once

#include <cstdint>
#include <span>

#include "core/limit/limit.h"

namespace tally {

// `cost` >= 1; `now` and `at` as for DecideLimits.
void CountAsBefore(std::span<const LimitUse> uses, int64_t cost, int64_t now, int64_t at);

}  // namespace tally
