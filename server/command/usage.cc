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

std::string UsageOf(const CommandEntry& entry) {
  std::string usage = entry.full_name;
  absl::AsciiStrToUpper(&usage);
  std::replace(usage.begin(), usage.end(), '|', ' ');
  if (!entry.command->subcommands.empty())
    return StrCat(usage, ' ', NamesOf(entry.command->subcommands));
  const std::string arguments = UsageOf(ArgumentsOf(*entry.command));
  if (!arguments.empty()) StrAppend(usage, ' ', arguments);
  return usage;
}

std::string UsageHint(const CommandEntry& entry) {
  return entry.family->native ? StrCat(". Usage: ", UsageOf(entry)) : std::string();
}

void ReplySyntaxError(CommandContext& context, std::string_view what) {
  context.reply.Error(StrCat("ERR ", what, UsageHint(context.entry)));
}

bool ReplyOptionError(CommandContext& context, const OptionWords& options) {
  const std::string error = options.Error();
  ReplySyntaxError(context, error.empty() ? "syntax error" : error);
  return false;
}

}  // namespace tally::server
