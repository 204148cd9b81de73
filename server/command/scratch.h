// A value that commands use again and again, so that a command on a small one allocates nothing. It
// means nothing between two commands. The engine's operations have their own: see EngineScratch.
#pragma once

#include <cstdint>

#include "core/hash/hash.h"

namespace tally::server {

struct Scratch {
  // `seed` is of the fields' hash in hashes that outgrow it.
  explicit Scratch(uint64_t seed) : hash(seed) {}

  Hash hash;
};

}  // namespace tally::server
