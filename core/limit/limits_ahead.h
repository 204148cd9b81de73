// What lies after the clock in a key's limits, because the clock was set back.
#pragma once

#include <cstdint>
#include <vector>

#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"
#include "core/time/zone_source.h"

namespace tally {

// Whether a counter, a hold, or what arrived late lies after `now_ms`.
bool IsAhead(const LimitState& state, int64_t now_ms);

// A rule for each counter that IsAhead, which SetBackLimits sets back by. Without those of a zone
// that the source lacks: nobody knows their periods.
std::vector<LimitRule> RulesAhead(const LimitState& state, ZoneSource& zones, int64_t now_ms);

}  // namespace tally
