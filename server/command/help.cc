#include "server/command/help.h"

#include <absl/strings/ascii.h>

#include "core/bytes/str_cat.h"

namespace tally::server {

void ReplyHelp(CommandContext& context, std::span<const std::string_view> lines) {
  std::string name(context.item.parent->name);
  absl::AsciiStrToUpper(&name);
  context.reply.Array(lines.size() + 3);
  context.reply.Status(StrCat(name, " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
  for (const std::string_view line : lines) context.reply.Status(line);
  context.reply.Status("HELP");
  context.reply.Status("    Prints this help.");
}

}  // namespace tally::server
