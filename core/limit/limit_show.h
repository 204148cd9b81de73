// What a key's limits hold, for people who want to see why something is denied.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/limit/limit_state.h"

namespace tally {

// One counter. BASE is shown as two, the day and the window; LOCKOUT too, the period, and the
// block. What is held is shown as HOLDS, and what of it is under a CONCURRENT as that.
struct LimitShown {
  LimitAlgorithm algorithm = LimitAlgorithm::kFixed;
  // Of the counter: its zone and start, and whether its rules are in SHADOW, too.
  LimitKey key;
  // The calendar unit. LOCKOUT: "block" for one that is on, "remembered" for one that will lengthen
  // the next. HOLDS, CONCURRENT: "held". Empty if the period has a length, `period_ms`.
  std::string_view unit;
  int64_t period_ms = 0;
  // Hits that count at present. BUCKET: missing tokens, rounded up. A block: its
  // place among those that grow, from 1.
  int64_t used = 0;
  // The instant of the newest hit, as exactly as it is stored. FIXED, ROLLING, BASE, LOCKOUT:
  // when the window, day or block began. CALENDAR: when the period began.
  int64_t newest_ms = 0;
  // The instant from which nothing of it counts any more, if nothing more is taken.
  int64_t ends_ms = 0;
};

// Returns the counters in which something counts at `now_ms`, sorted by algorithm, unit and period,
// so that the result does not depend on the order in which they were created. O(n log n) for n
// counters; SLIDING costs as TimeLog::CountAfter.
std::vector<LimitShown> ShowLimits(const LimitState& state, int64_t now_ms);

}  // namespace tally
