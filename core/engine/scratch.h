// Values and buffers that operations use again and again, so that a decision on a small value
// allocates nothing. Nothing in here means anything between two operations.
#pragma once

#include <deque>
#include <string>

#include "core/hits/hits.h"
#include "core/limit/limit_state.h"

namespace tally {

struct EngineScratch {
  Hits hits;
  std::deque<LimitState> limits;  // one for each key of a decision; they stay where they are
  std::string bytes;
};

}  // namespace tally
