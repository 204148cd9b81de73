// HELP, a subcommand of every container command, and of each family of tallyd's own commands.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/command/command_context.h"

namespace tally::server {

// Replies `lines` between the first line and the last ones, which are the same for every command.
void ReplyHelp(CommandContext& context, std::span<const std::string_view> lines);

// The error reply to a subcommand that got too many words.
void ReplyUnknownSubcommand(CommandContext& context);

// Replies the whole syntax and the summary of each command of the family, also of those whose rows
// are in another file, and after them the lines of `more`.
void ReplyFamilyHelp(CommandContext& context, std::span<const std::string> more);
// The same without more lines.
void FamilyHelp(CommandContext& context);

inline constexpr Command kFamilyHelp[] = {
    {"help", FamilyHelp, 2, kLoading | kStale, {}, "Says how the commands are used.", "1.0.0"}};

}  // namespace tally::server
