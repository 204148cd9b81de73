// What counters get back of what was held: exactly where it was counted, unless that is over.
//
// In which order several holds give back does not matter, so many are added up first and taken off
// at once.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/limit/limit_state.h"

namespace tally {

// What a hold has counted in one counter: `hits` at the instant `at_ms`, of which `in_window` are
// in the window of BASE. BUCKET: `in_window` is what the hold took at first, so that the difference
// is used.
struct HeldAmount {
  int64_t hits = 0;
  int64_t in_window = 0;
  int64_t at_ms = 0;
  int64_t now_ms = 0;  // when it is given back
};

// What is taken off a counter that has numbers.
class NumbersRefund {
 public:
  // Adds what is to be given back, if its window is not over. A bucket gets its tokens back but
  // those that may have come back by its refill since: or else who waits and cancels would have
  // them twice. The numbers are those of Apply.
  void Add(const LimitNumbers& numbers, const LimitKey& key, const HeldAmount& held);
  void Apply(LimitNumbers& numbers, const LimitKey& key, int64_t late_ms) const;

 private:
  int64_t hits_ = 0;
  int64_t before_ = 0;
  int64_t first_now_ms_ = std::numeric_limits<int64_t>::max();
};

// The same for any counter.
class CounterRefund {
 public:
  explicit CounterRefund(LimitCounter& counter) : counter_(&counter) {}

  LimitCounter& counter() const { return *counter_; }
  void Add(const HeldAmount& held);
  // Returns what it has taken off a log; nothing for other counters. Ends the use of the object.
  std::vector<TimeBlock::Pair> Apply();

 private:
  LimitCounter* counter_;
  NumbersRefund numbers_;
  std::vector<TimeBlock::Pair> log_;
};

// For a single hold.
void Refund(LimitNumbers& numbers, const LimitKey& key, const HeldAmount& held, int64_t late_ms);
void Refund(LimitCounter& counter, const HeldAmount& held);

}  // namespace tally
