#include "core/limit/hold_wait.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/limit/holds.h"
#include "core/limit/limit_math.h"
#include "core/limit/refund.h"
#include "core/time/duration.h"

namespace tally {
namespace {

// What a rule's counter would hold if the holds end one after the other.
class Freed {
 public:
  Freed(const LimitState& state, const LimitRule& rule)
      : rule_(rule), held_(state.concurrent(rule.shadow)) {
    if (!rule.counts()) return;
    key_ = LimitKey::Of(rule);
    counter_ = state.Find(key_);
    if (counter_ != nullptr) numbers_ = counter_->numbers;
  }

  // Does nothing if the hold is not under the rule.
  void End(const HoldView& hold) {
    const HoldCounters& counters = rules_.Of(hold.rules());
    if (!rule_.counts()) {
      const bool is_under = rule_.shadow ? counters.shadow_concurrent : counters.concurrent;
      if (is_under) held_ -= hold.cost();
      return;
    }
    const auto found = std::ranges::find(counters.keys, key_);
    if (found == counters.keys.end() || counter_ == nullptr) return;
    const auto index = static_cast<size_t>(found - counters.keys.begin());
    hold.ForEachShare([&](size_t i, int64_t hits, const HoldShare& share) {
      if (i != index) return;
      if (counter_->log != nullptr) {
        // Perhaps LIMIT.GIVE has given some back already.
        int64_t& freed = freed_[share.at_ms];
        freed = std::min(freed + hits, HitsAt(share.at_ms));
      } else {
        Refund(numbers_, key_, {hits, share.in_window, share.at_ms, hold.deadline_ms()},
               counter_->late_ms);
      }
    });
  }

  bool Fits(int64_t cost, int64_t e_ms) const {
    if (!rule_.counts()) return cost <= rule_.limit - held_;
    if (counter_ == nullptr) return false;
    if (counter_->log != nullptr) {
      const int64_t after_ms = e_ms - rule_.period_ms;
      auto count = static_cast<int64_t>(counter_->log->CountAfter(after_ms));
      for (auto at = freed_.upper_bound(after_ms); at != freed_.end(); ++at) count -= at->second;
      return cost <= rule_.limit - count;
    }
    LimitNumbers numbers = numbers_;
    Roll(numbers, rule_, e_ms);
    return tally::Fits(numbers, rule_, cost, e_ms);
  }

  // The first instant from `e_ms` on at which the cost, which does not fit at `e_ms`, fits if no
  // other hold ends.
  int64_t EarliestFit(int64_t cost, int64_t e_ms) const {
    if (counter_ == nullptr) return kMaxInstantMs;
    if (counter_->log == nullptr) {
      LimitNumbers numbers = numbers_;
      Roll(numbers, rule_, e_ms);
      return tally::EarliestFit(numbers, rule_, cost, e_ms);
    }
    int64_t count = 0;
    int64_t fits_from_ms = kMaxInstantMs;
    const int64_t after_ms = e_ms - rule_.period_ms;
    ForEachLeft(after_ms, [&](int64_t, int64_t hits) { count += hits; });
    ForEachLeft(after_ms, [&](int64_t at_ms, int64_t hits) {
      if (cost <= rule_.limit - count) return;
      count -= hits;
      fits_from_ms = at_ms + rule_.period_ms;
    });
    return fits_from_ms;
  }

 private:
  // The hits of the log that are not freed, by their instants.
  template <typename Visit>
  void ForEachLeft(int64_t after_ms, Visit&& visit) const {
    counter_->log->ForEachAfter(after_ms, [&](int64_t at_ms, uint64_t count) {
      const auto freed = freed_.find(at_ms);
      const int64_t gone = freed == freed_.end() ? 0 : freed->second;
      visit(at_ms, static_cast<int64_t>(count) - gone);
    });
  }

  int64_t HitsAt(int64_t at_ms) const {
    return static_cast<int64_t>(counter_->log->CountAfter(at_ms - 1) -
                                counter_->log->CountAfter(at_ms));
  }

  const LimitRule& rule_;
  LimitKey key_;
  const LimitCounter* counter_ = nullptr;
  LimitNumbers numbers_;
  int64_t held_;
  HoldCountersReader rules_;
  std::map<int64_t, int64_t> freed_;  // hits of a log by their instant
};

}  // namespace

int64_t FitsWhenHoldsEnd(const LimitState& state, const LimitRule& rule, int64_t cost,
                         const HoldWait& wait) {
  Freed freed(state, rule);
  int64_t last_e_ms = wait.e_ms;
  bool found = false;
  const std::vector<HoldView> holds = state.holds()->FirstToEnd(wait.now_ms, kMostWaited);
  for (size_t i = 0; i < holds.size() && !found; ++i) {
    const int64_t e_ms = wait.e_ms + (holds[i].deadline_ms() - wait.now_ms);
    // After what was freed so far, time alone may make it fit before this hold ends.
    if (e_ms >= wait.fits_from_ms || freed.Fits(cost, e_ms)) break;
    freed.End(holds[i]);
    last_e_ms = e_ms;
    found = freed.Fits(cost, e_ms) || i + 1 == kMostWaited;
  }
  if (found) return last_e_ms;
  if (last_e_ms == wait.e_ms) return wait.fits_from_ms;
  return std::min(wait.fits_from_ms, freed.EarliestFit(cost, last_e_ms));
}

}  // namespace tally
