// What the operations of the engine share: where and when they work, and what they did to a key.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/engine/engine.h"

namespace tally {

// A database of an engine at an instant.
struct Place {
  Engine& engine;
  size_t database = 0;
  int64_t now = 0;  // unix ms, the clock: keys whose deadlines have passed are gone
  // What is done was done before, and is read from a log: it is not judged again.
  bool replaying = false;

  Keyspace& keyspace() const { return engine.database(database); }
};

// When something happens, in unix ms.
struct EventInstants {
  int64_t at = 0;         // its own instant, which may be early or late
  int64_t judged_at = 0;  // what the clock showed when it was judged

  static EventInstants Now(int64_t now) { return {now, now}; }
};

// What an operation found under a key and did to it. Whoever keeps a log writes down what has
// changed it; whoever watches keys reports it.
struct KeyOutcome {
  bool wrong_type = false;  // it holds a value of another type, and nothing was done
  bool found = false;
  bool changed = false;
  bool removed = false;  // by becoming empty; `changed` too
};

}  // namespace tally
