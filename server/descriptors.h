// The process's limit on open files, which bounds the number of clients.
#pragma once

#include <absl/status/status.h>

#include <cstdint>

#include "server/config/config.h"
#include "server/log/log.h"

namespace tally::server {

// At the start: raises the limit to what maxclients needs, or else lowers maxclients.
absl::Status LimitClients(Config& config, const Logger& log);

// Later: raises the limit to what this many clients need. An error says how many it is enough for.
absl::Status MakeRoomForClients(int64_t clients);

// Whether a new socket is one of the descriptors that no client gets, because they are for the
// listeners, the log, a rewrite and the like: the kernel gives out the lowest one that is free.
bool IsReserved(int socket);

}  // namespace tally::server
