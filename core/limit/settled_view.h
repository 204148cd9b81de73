// A key's limits at an instant, for who only reads: as if the holds that have ended were settled.
#pragma once

#include <cstdint>
#include <memory>

#include "core/limit/limit_state.h"
#include "core/time/zone_source.h"

namespace tally {

// Has counters of its own and borrows the holds, which would take long to copy. The state must stay
// as it is.
class SettledView {
 public:
  SettledView(const LimitState& state, ZoneSource& zones, int64_t now_ms);
  ~SettledView();
  SettledView(const SettledView&) = delete;
  SettledView& operator=(const SettledView&) = delete;

  // Is not to be changed. What looks at its holds must leave out those that have ended.
  LimitState& state() { return state_; }

 private:
  LimitState state_;
  EndedHolds ended_;
  bool borrows_ = true;
};

}  // namespace tally
