#include "core/limit/hold_wait.h"

#include <algorithm>
#include <map>

#include "core/base/check.h"
#include "core/limit/holds.h"
#include "core/limit/limit_math.h"

namespace tally {
namespace {

// What a rule's counter would hold if the holds end one after the other.
class Freed {
 public:
  Freed(const LimitState& state, const LimitRule& rule)
      : rule_(rule), held_(state.holds()->concurrent()) {
    if (!rule.counts()) return;
    key_ = LimitKey::Of(rule);
    counter_ = state.Find(key_);
    if (counter_ != nullptr) numbers_ = counter_->numbers;
  }

  // Returns false if the hold is not under the rule.
  bool End(const HoldRecord& hold) {
    HoldCounters counters;
    Check(ReadHoldCounters(hold.rules, counters), "the rules of a record are well formed");
    if (!rule_.counts()) {
      if (counters.concurrent) held_ -= hold.cost();
      return counters.concurrent;
    }
    const auto found = std::find(counters.keys.begin(), counters.keys.end(), key_);
    if (found == counters.keys.end() || counter_ == nullptr) return false;
    const auto index = static_cast<size_t>(found - counters.keys.begin());
    for (const HoldPart& part : hold.parts) {
      const HoldShare& share = part.shares[index];
      if (counter_->log != nullptr) {
        // Perhaps LIMIT.GIVE has given some back already.
        int64_t& freed = freed_[share.at];
        freed = std::min(freed + part.cost, HitsAt(share.at));
      } else {
        Refund(numbers_, key_,
               {part.cost, share.in_window, share.at, hold.until - counter_->late_ms});
      }
    }
    return true;
  }

  bool Fits(int64_t cost, int64_t e) {
    if (!rule_.counts()) return cost <= rule_.limit - held_;
    if (counter_ == nullptr) return false;
    if (counter_->log != nullptr) {
      const int64_t after = e - rule_.period_ms;
      auto count = static_cast<int64_t>(counter_->log->CountAfter(after));
      for (auto at = freed_.upper_bound(after); at != freed_.end(); ++at) count -= at->second;
      return cost <= rule_.limit - count;
    }
    LimitNumbers numbers = numbers_;
    Roll(numbers, rule_, e);
    return tally::Fits(numbers, rule_, cost, e);
  }

 private:
  int64_t HitsAt(int64_t at) const {
    return static_cast<int64_t>(counter_->log->CountAfter(at - 1) - counter_->log->CountAfter(at));
  }

  const LimitRule& rule_;
  LimitKey key_;
  const LimitCounter* counter_ = nullptr;
  LimitNumbers numbers_;
  int64_t held_;
  std::map<int64_t, int64_t> freed_;  // hits of a log by their instant
};

}  // namespace

int64_t FitsWhenHoldsEnd(const LimitState& state, const LimitRule& rule, int64_t cost,
                         const HoldWait& wait) {
  Freed freed(state, rule);
  int64_t fits_from = wait.fits_from;
  int left = kMostWaited;
  state.holds()->ForEachByDeadline([&](const HoldRecord& hold) {
    const int64_t e = wait.e + std::max<int64_t>(0, hold.until - wait.now);
    if (e >= fits_from) return false;
    if (freed.End(hold) && freed.Fits(cost, e)) {
      fits_from = e;
      return false;
    }
    if (--left > 0) return true;
    fits_from = e;
    return false;
  });
  return fits_from;
}

}  // namespace tally
