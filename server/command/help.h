// HELP, a subcommand of every container command.
#pragma once

#include <span>
#include <string_view>

#include "server/command/command_context.h"

namespace tally::server {

// Replies the lines between the first and the last ones, which are alike for every command.
void ReplyHelp(CommandContext& context, std::span<const std::string_view> lines);

}  // namespace tally::server
