// The timeout of a command that waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "server/command/command_context.h"

namespace tally::server {

// Reads the argument at `index`: seconds, perhaps with a fraction. Returns milliseconds, rounded
// up; 0 means for ever. Returns nothing after replying an error.
std::optional<int64_t> TimeoutArg(CommandContext& context, size_t index);

}  // namespace tally::server
