// How long a cost has to wait that does not fit now: a hold that ends frees what it holds.
#pragma once

#include <cstdint>

#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"

namespace tally {

struct HoldWait {
  int64_t now_ms = 0;        // the server's clock, by which holds end
  int64_t e_ms = 0;          // when the rule is judged
  int64_t fits_from_ms = 0;  // from when the cost fits if no hold ends
};

// The first instant of judgement, not after `wait.fits_from`, at which `cost` fits if nothing but
// time happens. The state has holds. Looks at no more than the kMostWaited
// holds that end first: if these do not free enough, the cost may not fit at the instant yet.
inline constexpr size_t kMostWaited = 1'000;
int64_t FitsWhenHoldsEnd(const LimitState& state, const LimitRule& rule, int64_t cost,
                         const HoldWait& wait);

}  // namespace tally
