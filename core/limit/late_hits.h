// Hits that are late, or were counted by a clock that was ahead: see limit.h. Most are neither.
#pragma once

#include <cstdint>
#include <limits>

#include "core/limit/limit_math.h"
#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"

namespace tally {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

struct Hit {
  int64_t cost;
  int64_t now_ms;
  int64_t at_ms;         // not after `now_ms`
  int64_t until_ms = 0;  // the deadline, if it is to be held

  bool is_late() const { return at_ms < now_ms; }
};

// The latest instant that a counter has counted, or kNever. It may be after the server's clock.
inline int64_t ClockOf(const LimitCounter& counter) {
  if (counter.log == nullptr) return ClockOf(counter.numbers, counter.key.algorithm);
  return counter.log->empty() ? kNever : counter.log->newest_ms();
}

// Whether a late hit would find what counts no more. To others it is the same as nothing, because
// their instant is after it.
inline bool IsOver(const LimitCounter& counter, const Hit& hit) {
  return hit.is_late() && counter.HasExpiredAt(hit.now_ms);
}

// Reads what a counter counted after `now_ms` as counted at `now_ms`, and what arrived after
// `now_ms` as arrived at `now_ms`. Returns false if there is nothing.
bool SetBackTo(LimitCounter& counter, const LimitRule& rule, int64_t now_ms);

// Whether no window from now on, for hits as late as the counter's, holds the hit.
bool IsDropped(const LimitRule& rule, const LimitState& state, const Hit& hit);

// Counts a hit in its own place, or at the instant at which it is judged.
void CountLate(LimitCounter& counter, const LimitRule& rule, const Hit& hit, bool in_own_place);

}  // namespace tally
