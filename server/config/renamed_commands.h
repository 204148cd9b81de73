// The names of commands that an operator has changed.
#pragma once

#include <absl/status/status.h>

#include "server/command/command_table.h"
#include "server/config/config.h"

namespace tally::server {

// Gives the commands the names of the `rename-command` lines, in their order. Returns the first
// error: a line that does not hold a command and one new name. O(lines).
absl::Status RenameCommands(const Config& config, CommandTable& commands);

}  // namespace tally::server
