// The usage of a command, and the errors that show it.
#pragma once

#include <string>
#include <string_view>

#include "core/words/option_words.h"
#include "server/command/command_context.h"

namespace tally::server {

// Returns a usage as "LIMIT.GIVE key [n] [AT t]"; for a command with subcommands its name and
// theirs, as "HOTKEYS <GET | HELP | START>".
std::string UsageOf(const CommandEntry& entry);

// Returns ". Usage: …" for tallyd's own commands, which nobody knows by heart. Returns nothing for
// Redis's commands, because clients compare their errors.
std::string UsageHint(const CommandEntry& entry);

// Replies the error `what`, with the usage if the command is one of tallyd's own.
void ReplySyntaxError(CommandContext& context, std::string_view what = "syntax error");

// The same for a word that is none of the options, or one that is given twice. Always returns
// false.
bool ReplyOptionError(CommandContext& context, const OptionWords& options);

}  // namespace tally::server
