// What COMMAND INFO and COMMAND DOCS say of a command, handed to the server.
#pragma once

#include "server/command/command.h"
#include "server/module/redis_module.h"

namespace tally::module {

// False if the server refuses it.
bool DescribeCommand(redis::Command* made, const server::Command& command);

}  // namespace tally::module
