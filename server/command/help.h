// HELP, a subcommand of every container command, and of each family of tallyd's own commands.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/command/command_context.h"

namespace tally::server {

// Replies the lines between the first and the last ones, which are alike for every command.
void ReplyHelp(CommandContext& context, std::span<const std::string_view> lines);

// Replies each command of the family, also those whose rows are in another file, with its whole
// syntax and its summary, and then `more`.
void ReplyFamilyHelp(CommandContext& context, std::span<const std::string> more);
// The same without more.
void FamilyHelp(CommandContext& context);

inline constexpr Command kFamilyHelp[] = {
    {"help", FamilyHelp, 2, kLoading | kStale, {}, "Says how the commands are used.", "0.1.0"}};

}  // namespace tally::server
