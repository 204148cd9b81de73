// Reads the clock once a turn: whatever happens first in a turn begins it.
#pragma once

#include "server/state/clock.h"

namespace tally::server {

class TurnClock {
 public:
  explicit TurnClock(Clock& clock) : clock_(clock) {}

  // To be called before anything is done in a turn; only the first call reads the clock.
  void Begin() {
    if (in_turn_) return;
    in_turn_ = true;
    clock_.Tick();
  }
  void End() { in_turn_ = false; }

 private:
  Clock& clock_;
  bool in_turn_ = false;
};

}  // namespace tally::server
