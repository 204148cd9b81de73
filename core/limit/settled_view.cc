#include "core/limit/settled_view.h"

#include "core/base/saturating.h"
#include "core/limit/hold_refunds.h"
#include "core/limit/holds.h"
#include "core/limit/reservation.h"

namespace tally {

SettledView::SettledView(const LimitState& state, ZoneSource& zones, int64_t now_ms) {
  if (state.holds() != nullptr && state.holds()->IsAhead(now_ms)) {
    // The clock was set back: holds change too.
    borrows_ = false;
    state_ = std::move(*state.Clone());
    SettleHolds(state_, zones, now_ms);
    return;
  }
  state_.CopyCounters(state);
  if (state.holds() == nullptr) return;
  state_.holds_.reset(state.holds());
  state_.ended_ = &ended_;
  HoldRefunds refunds(state_);
  state.holds()->ForEachEnded(now_ms, [&](const HoldView& hold, const HoldCountersReader& rules) {
    refunds.Add(hold, rules, hold.deadline_ms());
    if (rules.last().concurrent) ended_.concurrent = SaturatingAdd(ended_.concurrent, hold.cost());
    if (rules.last().shadow_concurrent) {
      ended_.shadow_concurrent = SaturatingAdd(ended_.shadow_concurrent, hold.cost());
    }
  });
  refunds.Apply();
  state_.Prune(now_ms);
}

SettledView::~SettledView() {
  if (borrows_) static_cast<void>(state_.holds_.release());
}

}  // namespace tally
