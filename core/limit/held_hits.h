// What the counters of a key hold, put aside, so that LIMIT.GIVE gives back only what was taken:
// what is held is given back by whoever settles the hold, and would else be given back twice.
#pragma once

#include <cstdint>
#include <vector>

#include "core/limit/limit_state.h"

namespace tally {

class HeldHits {
 public:
  // Takes what is held at `now_ms` out of the counters; O(holds). Not of LOCKOUT, where GIVE is the
  // end of a block, whoever started it.
  HeldHits(LimitState& state, int64_t now_ms);
  // Puts it back. The counters are those that there were.
  void PutBack();

 private:
  struct Aside {
    LimitCounter* counter;
    int64_t hits = 0;    // of numbers.hits
    int64_t before = 0;  // of numbers.before
    std::vector<TimeBlock::Pair> log;
  };

  std::vector<Aside> asides_;
};

}  // namespace tally
