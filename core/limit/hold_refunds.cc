#include "core/limit/hold_refunds.h"

#include <algorithm>

namespace tally {

HoldRefunds::HoldRefunds(LimitState& state) {
  for (LimitCounter& counter : state.counters()) refunds_.emplace_back(counter);
}

void HoldRefunds::Add(const HoldView& hold, const HoldCountersReader& rules, int64_t now_ms) {
  const HoldKeys& keys = rules.last().keys;
  if (version_ != rules.version()) {
    version_ = rules.version();
    of_rules_.clear();
    for (const LimitKey& key : keys) {
      const auto found = std::ranges::find_if(
          refunds_, [&](const CounterRefund& one) { return one.counter().key == key; });
      of_rules_.push_back(found == refunds_.end() ? nullptr : &*found);
    }
  }
  hold.ForEachShare([&](size_t i, int64_t cost, const HoldShare& share) {
    if (of_rules_[i] == nullptr) return;
    const bool bucket = keys[i].algorithm == LimitAlgorithm::kBucket;
    of_rules_[i]->Add({.hits = cost,
                       .in_window = bucket ? share.in_window : std::min(cost, share.in_window),
                       .at_ms = share.at_ms,
                       .now_ms = now_ms});
  });
}

void HoldRefunds::Apply() {
  for (CounterRefund& refund : refunds_) refund.Apply();
}

}  // namespace tally
