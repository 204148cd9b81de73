// The commands that only the module has:
//
//   TALLY.LOAD key type PACKED|FIRST|MORE bytes     a value, in an AOF without a preamble
//   TALLY.CLOCK SET <unix ms> | ADVANCE <duration> | REAL     with the option debug-clock, for
//   tests
#pragma once

#include "server/module/redis_module.h"

namespace tally::module {

// Must be called while the server loads the module. Returns false if the server refuses a command.
bool RegisterOwnCommands(redis::Context* context, bool debug_clock);

}  // namespace tally::module
