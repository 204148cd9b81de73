#include "core/engine/limit_states.h"

#include <algorithm>
#include <memory>

namespace tally {

LimitState& NewScratchLimit(const Place& place, size_t index) {
  auto& states = place.engine.scratch().limits;
  while (states.size() <= index) states.push_back(std::make_unique<LimitState>());
  return *states[index];
}

// Whether a key that may be near its most counters may get those that these rules need.
bool HasRoomForNew(const LimitState& state, std::span<const LimitRule> rules, int64_t now_ms) {
  const auto added = std::ranges::count_if(rules, [&](const LimitRule& rule) {
    return rule.counts() && state.Find(LimitKey::Of(rule)) == nullptr;
  });
  if (added == 0) return true;
  const auto counters = state.counters();
  const auto counting = std::ranges::count_if(
      counters, [now_ms](const LimitCounter& counter) { return !counter.HasExpiredAt(now_ms); });
  return static_cast<size_t>(counting + added) <= Limits::kMaxCounters;
}

}  // namespace tally
