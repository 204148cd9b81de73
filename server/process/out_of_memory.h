// What happens when the allocator has no memory to give.
#pragma once

#include "server/log/log.h"

namespace tally::server {

// From now on the process ends at once, with a message, when an allocation fails. It cannot go on:
// a command that stops half-way would leave data that is not in the log. Nothing that appendfsync
// has promised is lost, because what the turn did has not been acknowledged. `log` must live as
// long as the process.
void EndWhenOutOfMemory(const Logger& log);

}  // namespace tally::server
