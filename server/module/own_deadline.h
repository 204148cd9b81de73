// Hits and limits end when nothing in them can count any more. The server's own commands can take
// that deadline from a key: PERSIST, and RESTORE with a ttl of 0. The key gets it back at once.
#pragma once

#include "server/module/redis_module.h"

namespace tally::module {

// Returns false if the server refuses.
bool KeepOwnDeadlines(redis::Context* context);

}  // namespace tally::module
