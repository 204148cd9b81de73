#include "core/limit/hold_cap.h"

#include <algorithm>

#include "core/limit/limit_math.h"

namespace tally {
namespace {

bool IsHolds(const LimitRule& rule) { return rule.algorithm == LimitAlgorithm::kHolds; }

// The most that a hold may take of the limits of the key that has this state.
int64_t MostOf(std::span<const LimitUse> uses, const LimitState& state, int64_t share) {
  int64_t most = INT64_MAX;
  for (const LimitUse& use : uses) {
    if (use.state != &state) continue;
    for (const LimitRule& rule : use.rules) {
      if (!rule.judges() || rule.shadow || rule.algorithm == LimitAlgorithm::kDeny) continue;
      const int64_t limit = CapacityOf(rule);
      const int64_t part = limit / kWholeShare * share + limit % kWholeShare * share / kWholeShare;
      most = std::min(most, std::max<int64_t>(1, part));
    }
  }
  return most;
}

}  // namespace

int64_t LongestHold(std::span<const LimitUse> uses) {
  int64_t longest_ms = kMaxHoldMs;
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      if (IsHolds(rule)) longest_ms = std::min(longest_ms, rule.period_ms);
    }
  }
  return longest_ms;
}

void JudgeHoldShare(std::span<const LimitUse> uses, int64_t cost, LimitDecision& decision) {
  int place = 0;
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      ++place;
      if (!IsHolds(rule)) continue;
      const int64_t most = MostOf(uses, *use.state, rule.limit);
      if (cost <= most) continue;
      if (decision.allowed || place < decision.rule) {
        decision.limit = decision.remaining = most;
        decision.reset_after_ms = 0;
        decision.rule = place;
      }
      decision.allowed = false;
      decision.retry_after_ms = -1;
    }
  }
}

}  // namespace tally
