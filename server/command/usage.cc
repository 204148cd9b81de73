#include "server/command/usage.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "server/command/arguments.h"

namespace tally::server {
namespace {

std::string NamesOf(std::span<const Command> subcommands) {
  std::string names;
  for (const Command& sub : subcommands) {
    StrAppend(names, names.empty() ? "" : " | ", absl::AsciiStrToUpper(std::string(sub.name)));
  }
  return subcommands.size() == 1 ? names : StrCat("<", names, ">");
}

}  // namespace

std::string UsageOf(const CommandEntry& item) {
  std::string usage = item.full_name;
  absl::AsciiStrToUpper(&usage);
  std::replace(usage.begin(), usage.end(), '|', ' ');
  if (!item.command->subcommands.empty())
    return StrCat(usage, ' ', NamesOf(item.command->subcommands));
  const std::string arguments = UsageOf(ArgumentsOf(*item.command));
  if (!arguments.empty()) StrAppend(usage, ' ', arguments);
  return usage;
}

std::string UsageHint(const CommandEntry& item) {
  return item.family->native ? StrCat(". Usage: ", UsageOf(item)) : std::string();
}

void ReplySyntaxError(CommandContext& context, std::string_view what) {
  context.reply.Error(StrCat("ERR ", what, UsageHint(context.item)));
}

bool ReplyOptionError(CommandContext& context, const OptionWords& options) {
  const std::string error = options.Error();
  ReplySyntaxError(context, error.empty() ? "syntax error" : error);
  return false;
}

}  // namespace tally::server
