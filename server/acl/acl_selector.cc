#include "server/acl/acl_selector.h"

#include <algorithm>

#include "core/bytes/glob.h"
#include "core/bytes/str_cat.h"
#include "server/command/command_context.h"
#include "server/config/value_text.h"
#include "server/log/quoted.h"

namespace tally::server {
namespace {

void AppendWord(std::string& text, std::string_view word) {
  StrAppend(text, text.empty() ? "" : " ", word);
}

std::string_view PrefixOf(const KeyPattern& pattern) {
  if (pattern.rights == kMayRead) return "%R~";
  if (pattern.rights == kMayWrite) return "%W~";
  // "~*" would be the rule for all keys, and no pattern may follow that rule.
  return pattern.glob == "*" ? "%RW~" : "~";
}

}  // namespace

bool AclSelector::IsUnrestricted() const {
  return new_commands && command_rules.empty() && all_keys && all_channels;
}

bool AclSelector::MayRun(size_t command_id, Args args) const {
  if (command_id < commands.size() ? commands[command_id] : new_commands) return true;
  const auto found = first_args.find(command_id);
  if (found == first_args.end() || args.size() < 2) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const std::string& word) { return IsWord(args[1], word); });
}

bool AclSelector::MayUseKey(std::string_view key, unsigned rights) const {
  return all_keys || std::any_of(keys.begin(), keys.end(), [&](const KeyPattern& pattern) {
           return (pattern.rights & rights) == rights && GlobMatch(pattern.glob, key);
         });
}

bool AclSelector::MayReadEveryKey() const {
  return all_keys || std::any_of(keys.begin(), keys.end(), [](const KeyPattern& pattern) {
           return pattern.glob == "*" && (pattern.rights & kMayRead) != 0;
         });
}

bool AclSelector::MayUseChannel(std::string_view channel, bool is_pattern) const {
  return all_channels || std::any_of(channels.begin(), channels.end(), [&](const auto& pattern) {
           return is_pattern ? pattern == channel : GlobMatch(pattern, channel);
         });
}

std::string KeysText(const AclSelector& selector) {
  if (selector.all_keys) return "~*";
  std::string text;
  for (const KeyPattern& one : selector.keys) {
    AppendWord(text, StrCat(PrefixOf(one), one.glob));
  }
  return text;
}

std::string ChannelsText(const AclSelector& selector) {
  if (selector.all_channels) return "&*";
  std::string text;
  for (const std::string& one : selector.channels) AppendWord(text, StrCat("&", one));
  return text;
}

std::string CommandsText(const AclSelector& selector) {
  std::string text = selector.new_commands ? "+@all" : "-@all";
  for (const std::string& rule : selector.command_rules) AppendWord(text, rule);
  return text;
}

std::string DescribeSelector(const AclSelector& selector) {
  std::string text = KeysText(selector);
  if (!selector.all_channels) AppendWord(text, "resetchannels");
  const std::string channels = ChannelsText(selector);
  if (!channels.empty()) AppendWord(text, channels);
  AppendWord(text, CommandsText(selector));
  return text;
}

// No word contains a blank, so the text can be split at spaces. A word that ends with a parenthesis
// needs quotes, because it would end the selector.
std::string DescribeInParentheses(const AclSelector& selector) {
  std::string text;
  for (const std::string& word : SplitAtSpaces(DescribeSelector(selector))) {
    std::string quoted;
    if (word.ends_with(')')) {
      AppendQuoted(quoted, word);
    } else {
      quoted = QuoteIfNeeded(word);
    }
    AppendWord(text, quoted);
  }
  return StrCat("(", text, ")");
}

}  // namespace tally::server
