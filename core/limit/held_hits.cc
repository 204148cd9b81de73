#include "core/limit/held_hits.h"

#include "core/limit/holds.h"

namespace tally {

HeldHits::HeldHits(LimitState& state, int64_t now) {
  if (state.holds() == nullptr) return;
  for (LimitCounter& counter : state.counters()) {
    if (counter.key.algorithm != LimitAlgorithm::kLockout) asides_.push_back({&counter, 0, 0, {}});
  }
  state.holds()->ForEach([&](std::string_view, const HoldRecord& hold) {
    if (hold.state != HoldState::kHeld) return;
    HoldCounters counters;
    static_cast<void>(ReadHoldCounters(hold.rules, counters));
    for (Aside& aside : asides_) {
      for (size_t i = 0; i < counters.keys.size(); ++i) {
        if (counters.keys[i] != aside.counter->key) continue;
        for (const HoldPart& part : hold.parts) {
          const HoldShare& share = part.shares[i];
          TakeOut(aside, {part.cost, share.in_window, share.at, now});
        }
      }
    }
  });
}

void HeldHits::TakeOut(Aside& aside, const LimitCounter::Part& part) {
  LimitCounter& counter = *aside.counter;
  if (counter.log != nullptr) {
    const uint64_t size = counter.log->size();
    counter.Refund(part);
    if (counter.log->size() < size) aside.log.push_back({part.at, size - counter.log->size()});
    return;
  }
  const LimitNumbers before = counter.numbers;
  counter.Refund(part);
  aside.hits += before.hits - counter.numbers.hits;
  aside.before += before.before - counter.numbers.before;
}

void HeldHits::PutBack() {
  for (const Aside& aside : asides_) {
    aside.counter->numbers.hits += aside.hits;
    aside.counter->numbers.before += aside.before;
    for (const auto& [at, count] : aside.log) aside.counter->log->Add(at, count);
  }
}

}  // namespace tally
