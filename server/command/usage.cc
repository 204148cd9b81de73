#include "server/command/usage.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "server/command/arguments.h"

namespace tally::server {

std::string UsageOf(const CommandTable::Item& item) {
  std::string usage = item.full_name;
  absl::AsciiStrToUpper(&usage);
  std::replace(usage.begin(), usage.end(), '|', ' ');
  if (!item.command->subcommands.empty()) return usage + " HELP";
  const std::string arguments = UsageOf(ArgumentsOf(*item.command));
  if (!arguments.empty()) StrAppend(usage, ' ', arguments);
  return usage;
}

std::string UsageHint(const CommandTable::Item& item) {
  return item.family->native ? StrCat(". Usage: ", UsageOf(item)) : std::string();
}

void ReplySyntaxError(CommandContext& context, std::string_view what) {
  context.reply.Error(StrCat("ERR ", what, UsageHint(context.item)));
}

}  // namespace tally::server
