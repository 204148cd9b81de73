// Replays hits from the logs of older versions. Counts them as the version that wrote the log did,
// so that the state becomes the same.
//
// Those versions differ from DecideLimits:
//  * Every rule counted a hit ahead of the clock as if the clock showed the hit's instant.
//  * A bucket counted a late hit at the hit's own instant, and had the rule's refill from that
//    instant on. A bucket that was full again was not forgotten while its key held anything else.
//  * If rules shared a counter, the refill or base of the first one was used.
#pragma once

#include <cstdint>
#include <span>

#include "core/limit/limit.h"

namespace tally {

// Counts the hits without judging them. `cost` is >= 1; `now` and `at` are as for DecideLimits.
void CountAsBefore(std::span<const LimitUse> uses, int64_t cost, int64_t now, int64_t at);

}  // namespace tally
