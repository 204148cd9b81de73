// LIMIT.SHOW: what a key's limits have counted, for people who ask why something is denied.
#pragma once

#include "server/command/command_context.h"

namespace tally::server {

// The handler; its row is with the other commands of LIMIT.
void ShowLimitState(CommandContext& context);

}  // namespace tally::server
