// CLIENT PAUSE, and FAILOVER, which holds back writes until a replica has all of them.
#pragma once

#include <cstdint>

#include "server/state/clock.h"

namespace tally::server {

struct Pause {
  // In Clock::elapsed_ms, so that nobody who sets the clock ends a pause or makes it longer.
  // Commands of other clients wait until then; 0 if there is no pause.
  int64_t until_ms = 0;
  bool writes_only = false;
  bool failover = false;

  // Whether anything waits, and whether commands that do not write wait too.
  bool active(const Clock& clock) const { return until_ms > clock.elapsed_ms() || failover; }
  bool holds_reads(const Clock& clock) const {
    return until_ms > clock.elapsed_ms() && !writes_only;
  }
};

}  // namespace tally::server
