// Reads the clock once a turn, when the first event of the turn happens, and measures how long the
// parts of a turn take.
#pragma once

#include "server/state/clock.h"
#include "server/state/cycle_clock.h"
#include "server/state/loop_stats.h"

namespace tally::server {

class TurnClock {
 public:
  TurnClock(Clock& clock, LoopStats& stats) : clock_(clock), stats_(stats) {}

  // Must be called before anything is done in a turn. Only the first call in a turn reads the
  // clock.
  void Begin() {
    if (in_turn_) return;
    in_turn_ = true;
    clock_.Tick();
    stats_.BeginTurn(CycleMicros());
  }
  // Ends the part kEvents. A turn in which no event has called Begin begins here: so one reading
  // of the clock does for both.
  void EndEvents() { in_turn_ ? EndPart(TurnPart::kEvents) : Begin(); }
  // Counts the time since Begin, or since the last EndPart, as time of this part.
  void EndPart(TurnPart part) { stats_.EndPart(part, CycleMicros()); }
  void End() {
    in_turn_ = false;
    stats_.EndTurn(clock_.now_ms());
  }

 private:
  Clock& clock_;
  LoopStats& stats_;
  bool in_turn_ = false;
};

}  // namespace tally::server
