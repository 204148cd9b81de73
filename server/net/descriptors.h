// The process's limit on open files, which bounds the number of clients.
#pragma once

#include <absl/status/status.h>

#include <cstdint>

#include "server/config/config.h"
#include "server/log/log.h"

namespace tally::server {

// At start: raises the limit to what maxclients needs. If that is not possible, lowers maxclients,
// or fails if no descriptor would be left for clients.
absl::Status LimitClients(Config& config, const Logger& log);

// After the start: raises the limit to what this many clients need. The error says for how many
// clients the limit is enough.
absl::Status MakeRoomForClients(int64_t clients);

// Whether a new socket has one of the highest descriptors. No client gets them, so that enough are
// left for the listeners, the log, a rewrite and so on: the kernel always gives out the lowest free
// descriptor, so a high one means that few are left.
bool IsReserved(int socket);

}  // namespace tally::server
