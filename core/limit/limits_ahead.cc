#include "core/limit/limits_ahead.h"

#include <algorithm>

#include "core/limit/holds.h"
#include "core/limit/limit.h"

namespace tally {

bool IsAhead(const LimitState& state, int64_t now_ms) {
  if (state.holds() != nullptr && state.holds()->IsAhead(now_ms)) return true;
  const auto counters = state.counters();
  return std::ranges::any_of(
      counters, [now_ms](const LimitCounter& counter) { return IsAhead(counter, now_ms); });
}

std::vector<LimitRule> RulesAhead(const LimitState& state, ZoneSource& zones, int64_t now_ms) {
  std::vector<LimitRule> rules;
  for (const LimitCounter& counter : state.counters()) {
    if (!IsAhead(counter, now_ms)) continue;
    // What a counter is not kept by may have any value that a rule may have.
    LimitRule rule = LimitRule::Bucket(1, 1, 1);
    rule.block.first_ms = 1;
    counter.key.ToRule(rule);
    if (counter.key.has_zone()) rule.zone = zones.FindId(counter.key.zone_id);
    if (!counter.key.has_zone() || rule.zone != nullptr) rules.push_back(rule);
  }
  return rules;
}

}  // namespace tally
