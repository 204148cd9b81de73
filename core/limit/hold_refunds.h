// What all counters of a key get back of many holds, added up.
#pragma once

#include <cstdint>
#include <vector>

#include "core/limit/hold_record.h"
#include "core/limit/limit_state.h"
#include "core/limit/refund.h"

namespace tally {

class HoldRefunds {
 public:
  // The state keeps its counters while this is used.
  explicit HoldRefunds(LimitState& state);

  // Adds what is held, given back at `now_ms`. O(counters of the rules).
  void Add(const HoldView& hold, const HoldCountersReader& rules, int64_t now_ms);
  std::vector<CounterRefund>& counters() { return refunds_; }
  void Apply();

 private:
  std::vector<CounterRefund> refunds_;  // one for each counter of the state
  // For each counter of the rules that were read last, its refund; null if it is not there.
  std::vector<CounterRefund*> of_rules_;
  uint64_t version_ = 0;
};

}  // namespace tally
