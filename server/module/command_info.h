// Gives the server what COMMAND INFO and COMMAND DOCS say about a command.
#pragma once

#include "server/command/command.h"
#include "server/module/redis_module.h"

namespace tally::module {

// Returns false if the server refuses the description.
bool DescribeCommand(redis::Command* made, const server::Command& command);

}  // namespace tally::module
