// Registers the commands of our families with the server: their names, flags, keys, and all that
// COMMAND INFO and DOCS say about them. All of it comes from the same rows that tallyd uses.
#pragma once

#include "server/command/command_table.h"
#include "server/module/redis_module.h"

namespace tally::module {

// Must be called while the server loads the module. Returns false if the server refuses a command.
bool RegisterCommands(redis::Context* context, const server::CommandTable& commands);

}  // namespace tally::module
