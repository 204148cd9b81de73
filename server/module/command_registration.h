// The commands of our families as commands of the server: names, flags, keys, and all that COMMAND
// INFO and DOCS say of them, from the same rows that tallyd has.
#pragma once

#include "server/command/command_table.h"
#include "server/module/redis_module.h"

namespace tally::module {

// While the server loads the module. False if it refuses one.
bool RegisterCommands(redis::Context* context, const server::CommandTable& commands);

}  // namespace tally::module
