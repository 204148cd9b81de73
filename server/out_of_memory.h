// What happens when the allocator has no memory to give.
#pragma once

#include "server/log/log.h"

namespace tally::server {

// From now on the process ends at once, and says so: a command that stops in its middle would leave
// data that its log does not have. Nothing is lost that appendfsync has promised, since what the
// turn did has not been acknowledged. `log` lives as long as the process.
void EndWhenOutOfMemory(const Logger& log);

}  // namespace tally::server
