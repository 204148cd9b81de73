// What a whole call of a command looks like, and the errors that show it.
#pragma once

#include <string>
#include <string_view>

#include "server/command/command_context.h"

namespace tally::server {

// "LIMIT.GIVE key [n] [AT t]"; of a command with subcommands, its HELP.
std::string UsageOf(const CommandTable::Item& item);

// ". Usage: …" for tallyd's own commands, which nobody knows by heart; nothing for Redis's, whose
// errors clients compare.
std::string UsageHint(const CommandTable::Item& item);

// Replies that the words of one of tallyd's own commands are not in its syntax, or `what` is wrong.
void ReplySyntaxError(CommandContext& context, std::string_view what = "syntax error");

}  // namespace tally::server
