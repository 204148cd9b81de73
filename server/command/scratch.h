// Values and buffers that commands use again and again, so that a decision on a small value
// allocates nothing. Nothing in here means anything between two commands.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "core/hash/hash.h"
#include "core/hits/hits.h"
#include "core/limit/limit_state.h"

namespace tally::server {

struct Scratch {
  // `seed` is of the fields' hash in hashes that outgrow it.
  explicit Scratch(uint64_t seed) : hash(seed) {}

  Hash hash;
  Hits hits;
  std::deque<LimitState> limits;  // one for each key of a command; they stay where they are
  std::string bytes;
};

}  // namespace tally::server
