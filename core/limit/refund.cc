#include "core/limit/refund.h"

#include <algorithm>
#include <utility>

#include "core/base/saturating.h"
#include "core/base/wide.h"
#include "core/limit/lockout.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

// What a bucket gets back, in its own units. The bucket without the hold would have been full for
// at most as long as its refill takes to bring more than the hits of that instant which stay.
int64_t UnitsBack(const LimitNumbers& numbers, int64_t period_ms, const HeldAmount& held) {
  const Wide came = Wide{numbers.refill} * std::max<int64_t>(0, held.now_ms - held.at_ms);
  const Wide stays = Wide{std::max<int64_t>(0, held.in_window - held.hits)} * period_ms;
  const Wide units = Wide{held.hits} * period_ms - std::max<Wide>(0, came - stays);
  return static_cast<int64_t>(std::clamp<Wide>(units, 0, numbers.hits));
}

}  // namespace

void NumbersRefund::Add(const LimitNumbers& numbers, const LimitKey& key, const HeldAmount& held) {
  if (held.hits == 0) return;
  int64_t units = held.hits;
  if (key.algorithm == Algorithm::kBucket) {
    hits_ = SaturatingAdd(hits_, UnitsBack(numbers, key.period_ms, held));
    return;
  }
  if (key.algorithm == Algorithm::kBase) {
    if (numbers.day.Contains(held.at_ms)) before_ = SaturatingAdd(before_, held.hits);
    units = held.in_window;
  }
  // Of another window, which is over: later ones begin after the instant, and one that a late hit
  // opened then may be before it.
  if (!numbers.window.Contains(held.at_ms)) return;
  hits_ = SaturatingAdd(hits_, units);
  first_now_ms_ = std::min(first_now_ms_, held.now_ms);
}

void NumbersRefund::Apply(LimitNumbers& numbers, const LimitKey& key, int64_t late_ms) const {
  if (key.algorithm == Algorithm::kLockout) {
    // What is given back first ends the block, and the others change only the hits.
    if (hits_ > 0) GiveToLockout(numbers, hits_, first_now_ms_ - late_ms);
    return;
  }
  numbers.hits -= std::min(hits_, numbers.hits);
  if (before_ > 0) numbers.before -= std::min(before_, numbers.before);
}

void CounterRefund::Add(const HeldAmount& held) {
  if (counter_->log == nullptr) {
    numbers_.Add(counter_->numbers, counter_->key, held);
  } else if (held.hits > 0) {
    const auto hits = static_cast<uint64_t>(held.hits);
    if (log_.empty() || log_.back().at_ms != held.at_ms ||
        log_.back().count > TimeLog::kMaxSize - hits) {
      log_.push_back({held.at_ms, 0});
    }
    log_.back().count += hits;
  }
}

std::vector<TimeBlock::Pair> CounterRefund::Apply() {
  if (counter_->log != nullptr) return counter_->log->RemoveEach(std::move(log_));
  numbers_.Apply(counter_->numbers, counter_->key, counter_->late_ms);
  return {};
}

void Refund(LimitNumbers& numbers, const LimitKey& key, const HeldAmount& held, int64_t late_ms) {
  NumbersRefund refund;
  refund.Add(numbers, key, held);
  refund.Apply(numbers, key, late_ms);
}

void Refund(LimitCounter& counter, const HeldAmount& held) {
  if (counter.log != nullptr) {
    counter.log->RemoveAt(static_cast<uint64_t>(held.hits), held.at_ms);
  } else {
    Refund(counter.numbers, counter.key, held, counter.late_ms);
  }
}

}  // namespace tally
