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
        int64_t& freed = freed_[share.at];
        freed = std::min(freed + hits, HitsAt(share.at));
      } else {
        Refund(numbers_, key_, {hits, share.in_window, share.at, hold.deadline()},
               counter_->late_ms);
      }
    });
  }

  bool Fits(int64_t cost, int64_t e) const {
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

  // The first instant from `e` on at which the cost, which does not fit at `e`, fits if no other
  // hold ends.
  int64_t EarliestFit(int64_t cost, int64_t e) const {
    if (counter_ == nullptr) return kMaxInstantMs;
    if (counter_->log == nullptr) {
      LimitNumbers numbers = numbers_;
      Roll(numbers, rule_, e);
      return tally::EarliestFit(numbers, rule_, cost, e);
    }
    int64_t count = 0;
    int64_t fits_from = kMaxInstantMs;
    const int64_t after = e - rule_.period_ms;
    ForEachLeft(after, [&](int64_t, int64_t hits) { count += hits; });
    ForEachLeft(after, [&](int64_t at, int64_t hits) {
      if (cost <= rule_.limit - count) return;
      count -= hits;
      fits_from = at + rule_.period_ms;
    });
    return fits_from;
  }

 private:
  // The hits of the log that are not freed, by their instants.
  template <typename Visit>
  void ForEachLeft(int64_t after, Visit&& visit) const {
    counter_->log->ForEachAfter(after, [&](int64_t at, uint64_t count) {
      const auto freed = freed_.find(at);
      const int64_t gone = freed == freed_.end() ? 0 : freed->second;
      visit(at, static_cast<int64_t>(count) - gone);
    });
  }

  int64_t HitsAt(int64_t at) const {
    return static_cast<int64_t>(counter_->log->CountAfter(at - 1) - counter_->log->CountAfter(at));
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
  int64_t last_e = wait.e;
  bool found = false;
  const std::vector<HoldView> holds = state.holds()->FirstToEnd(wait.now, kMostWaited);
  for (size_t i = 0; i < holds.size() && !found; ++i) {
    const int64_t e = wait.e + (holds[i].deadline() - wait.now);
    // After what was freed so far, time alone may make it fit before this hold ends.
    if (e >= wait.fits_from || freed.Fits(cost, e)) break;
    freed.End(holds[i]);
    last_e = e;
    found = freed.Fits(cost, e) || i + 1 == kMostWaited;
  }
  if (found) return last_e;
  if (last_e == wait.e) return wait.fits_from;
  return std::min(wait.fits_from, freed.EarliestFit(cost, last_e));
}

}  // namespace tally
