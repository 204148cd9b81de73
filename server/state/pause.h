// CLIENT PAUSE.
#pragma once

#include <cstdint>

#include "server/state/clock.h"

namespace tally::server {

struct Pause {
  // In Clock::elapsed_ms, so that nobody who sets the clock ends a pause or makes it longer.
  // Commands of other clients wait until then; 0 if there is no pause.
  int64_t until_ms = 0;
  bool writes_only = false;

  bool goes_on(const Clock& clock) const { return until_ms > clock.elapsed_ms(); }
};

}  // namespace tally::server
