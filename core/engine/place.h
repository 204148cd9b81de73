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
  int64_t now_ms = 0;  // unix ms, of the clock: keys whose deadlines have passed are expired
  // The operation is read from a log. It was judged when it was first done, and is not judged
  // again.
  bool replaying = false;

  Keyspace& keyspace() const { return engine.database(database); }
  // The instant by which data is too old to be kept: now, or earlier (Engine::set_deletion_lag).
  int64_t forget_at_ms() const { return now_ms - engine.deletion_lag_ms(); }
};

// When something happens, in unix ms.
struct EventInstants {
  int64_t at_ms = 0;         // the event's own instant, which may be before or after `judged_at_ms`
  int64_t judged_at_ms = 0;  // what the clock showed when the event was judged

  static EventInstants Now(int64_t now_ms) { return {now_ms, now_ms}; }
};

// What an operation found under a key and did to it. A host that keeps a log writes the calls that
// changed a key; a host that reports key events reports the change.
struct KeyOutcome {
  bool wrong_type = false;  // the key holds another type, and nothing was done
  bool found = false;
  bool full = false;  // the value holds as much as it may, and nothing was done
  bool changed = false;
  bool removed = false;  // the value became empty or was reset; `changed` is true too
};

}  // namespace tally
