// What all calls of one host share. A host is a server, a module or a test; it makes this once.
#pragma once

#include <cstdint>
#include <random>

#include "core/engine/engine.h"
#include "core/engine/value_limits.h"
#include "core/table/cursor_code.h"
#include "server/command/command_table.h"
#include "server/command/key_events.h"
#include "server/effects/effect_stream.h"

namespace tally::server {

// How often reading commands have looked for a key and found it (hits) or not (misses).
struct Lookups {
  uint64_t hits = 0;
  uint64_t misses = 0;
};

struct CommandHost {
  Engine& engine;
  const CommandTable& commands;
  const ValueLimits& limits;
  EffectStream& effects;
  KeyEvents& key_events;
  Lookups& lookups;
  CursorCode cursors;
  std::mt19937_64 random;
};

}  // namespace tally::server
