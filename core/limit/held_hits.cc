#include "core/limit/held_hits.h"

#include <utility>

#include "core/limit/hold_refunds.h"
#include "core/limit/holds.h"

namespace tally {

HeldHits::HeldHits(LimitState& state, int64_t now_ms) {
  if (state.holds() == nullptr) return;
  HoldRefunds refunds(state);
  state.holds()->ForEachHeld([&](const HoldView& hold, const HoldCountersReader& rules) {
    refunds.Add(hold, rules, now_ms);
  });
  for (CounterRefund& refund : refunds.counters()) {
    LimitCounter& counter = refund.counter();
    if (counter.key.algorithm == LimitAlgorithm::kLockout) continue;
    const LimitNumbers before = counter.numbers;
    std::vector<TimeBlock::Pair> log = refund.Apply();
    asides_.push_back({.counter = &counter,
                       .hits = before.hits - counter.numbers.hits,
                       .before = before.before - counter.numbers.before,
                       .log = std::move(log)});
  }
}

void HeldHits::PutBack() {
  for (const Aside& aside : asides_) {
    aside.counter->numbers.hits += aside.hits;
    aside.counter->numbers.before += aside.before;
    if (aside.counter->log != nullptr) aside.counter->log->AddEach(aside.log);
  }
}

}  // namespace tally
