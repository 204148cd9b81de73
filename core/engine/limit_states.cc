#include "core/engine/limit_states.h"

#include <algorithm>
#include <memory>

namespace tally {
namespace {

// Whether a key that may be near its most counters may get those that these rules need.
bool HasRoomForNew(const LimitState& state, std::span<const LimitRule> rules, int64_t now) {
  const auto counters = state.counters();
  const auto counting =
      std::count_if(counters.begin(), counters.end(),
                    [now](const LimitCounter& counter) { return counter.ExpiresAt() > now; });
  const auto added = std::count_if(rules.begin(), rules.end(), [&](const LimitRule& rule) {
    return rule.counts() && state.Find(LimitKey::Of(rule)) == nullptr;
  });
  return added == 0 || static_cast<size_t>(counting + added) <= Limits::kMaxCounters;
}

}  // namespace

bool HasRoomForRules(const LimitState& state, std::span<const LimitRule> rules, int64_t now) {
  return state.counters().size() + rules.size() <= Limits::kMaxCounters ||
         HasRoomForNew(state, rules, now);
}

LimitState& ScratchLimit(const Place& place, size_t index) {
  auto& states = place.engine.scratch().limits;
  while (states.size() <= index) states.push_back(std::make_unique<LimitState>());
  return *states[index];
}

}  // namespace tally
