// What a key's limits hold, for people who want to see why something is denied.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/limit/limit_state.h"

namespace tally {

// One counter; a BASE has two, the day's and its window's.
struct LimitShown {
  LimitAlgorithm algorithm = LimitAlgorithm::kFixed;
  // Empty where the period is one of `period_ms`.
  std::string_view unit;
  int64_t period_ms = 0;
  // Hits that count at present. ROLLING: weighted; BUCKET: missing tokens; both rounded up.
  int64_t used = 0;
  // The newest hit, as far as it is kept. FIXED, BASE: when the window or day began. CALENDAR,
  // ROLLING: when the newest period with hits began.
  int64_t newest_ms = 0;
  // From then on nothing of it counts any more, if nothing more is taken.
  int64_t ends_ms = 0;
};

// The counters in which anything counts at `now`, ordered by algorithm, unit and period, so that
// the order in which they came to be does not show. O(counters), for SLIDING as
// TimeLog::CountAfter.
std::vector<LimitShown> ShowLimits(const LimitState& state, int64_t now);

// As the rules' words are written: "FIXED", "day".
std::string_view WordOf(LimitAlgorithm algorithm);
std::string_view WordOf(CalendarUnit unit);

}  // namespace tally
