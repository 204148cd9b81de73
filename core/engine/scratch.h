// Values and buffers that the engine's operations and a host's commands reuse, so that an operation
// on a small value allocates nothing. Their content has no meaning between two operations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/hash/hash.h"
#include "core/hits/hits.h"
#include "core/limit/hold_rules.h"
#include "core/limit/limit_state.h"

namespace tally {

struct EngineScratch {
  // `seed` keys the hash table of fields, for a Hash that grows too large to be packed.
  explicit EngineScratch(uint64_t seed) : hash(seed) {}

  Hash hash;
  Hits hits;
  std::vector<std::unique_ptr<LimitState>> limits;  // one for each key of a decision
  HoldCountersReader hold_counters;
  std::string bytes;
};

}  // namespace tally
