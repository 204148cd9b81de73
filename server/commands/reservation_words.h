// What the commands of LIMIT share about reservations.
#pragma once

#include <string_view>

#include "server/command/command_context.h"

namespace tally::server {

// Reports that something of the key is free again, for those who wait for it.
inline void ReportFreed(CommandContext& context, std::string_view key) {
  context.host.key_events.Notify(kEventModule, "limit.free", context.database, key);
}

}  // namespace tally::server
