// Values and buffers that operations, and the commands of a host, use again and again, so that what
// is done to a small value allocates nothing. Nothing in here means anything between two of them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/hash/hash.h"
#include "core/hits/hits.h"
#include "core/limit/limit_state.h"

namespace tally {

struct EngineScratch {
  // `seed` is of the fields' hash in hashes that outgrow it.
  explicit EngineScratch(uint64_t seed) : hash(seed) {}

  Hash hash;
  Hits hits;
  std::deque<LimitState> limits;  // one for each key of a decision; they stay where they are
  std::string bytes;
};

}  // namespace tally
