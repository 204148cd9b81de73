#include "server/command/help.h"

#include <absl/strings/ascii.h>

#include <vector>

#include "core/bytes/str_cat.h"
#include "server/command/usage.h"

namespace tally::server {

void ReplyHelp(CommandContext& context, std::span<const std::string_view> lines) {
  std::string name(context.entry.parent->name);
  absl::AsciiStrToUpper(&name);
  context.reply.Array(lines.size() + 3);
  context.reply.Status(StrCat(name, " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
  for (const std::string_view line : lines) context.reply.Status(line);
  context.reply.Status("HELP");
  context.reply.Status("    Prints this help.");
}

void ReplyUnknownSubcommand(CommandContext& context) {
  const Args args = context.args;
  context.reply.Error(StrCat("ERR unknown subcommand or wrong number of arguments for '", args[1],
                             "'. Try ", absl::AsciiStrToUpper(std::string(args[0])), " HELP."));
}

void ReplyFamilyHelp(CommandContext& context, std::span<const std::string> more) {
  std::string name(context.entry.parent->name);
  absl::AsciiStrToUpper(&name);
  const std::string prefix = StrCat(context.entry.parent->name, ".");
  std::vector<std::string> lines = {StrCat(name, " commands are:")};
  for (const CommandEntry& entry : context.host.commands.entries()) {
    const bool of_family =
        entry.family == context.entry.family || entry.full_name.starts_with(prefix);
    if (!entry.callable || !of_family || entry.parent != nullptr ||
        !entry.command->subcommands.empty())
      continue;
    lines.push_back(UsageOf(entry));
    lines.push_back(StrCat("    ", entry.command->summary));
  }
  lines.insert(lines.end(), more.begin(), more.end());
  lines.push_back(name + " HELP");
  lines.push_back("    Prints this help.");
  context.reply.Array(lines.size());
  for (const std::string& line : lines) context.reply.Status(line);
}

void FamilyHelp(CommandContext& context) { ReplyFamilyHelp(context, {}); }

}  // namespace tally::server
