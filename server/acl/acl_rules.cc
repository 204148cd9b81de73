#include "server/acl/acl_rules.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/acl/password_hash.h"
#include "server/command/command_context.h"
#include "server/describe/acl_categories.h"
#include "server/resp/split_args.h"

namespace tally::server {
namespace {

constexpr std::string_view kSyntax = "Syntax error";
constexpr std::string_view kFirstArgOfSubcommand =
    "Allowing first-arg of a subcommand is not supported";
constexpr std::string_view kNoSuchPassword =
    "The password you are trying to remove from the user does not exist";
constexpr std::string_view kBadHash =
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal "
    "characters";
constexpr std::string_view kAfterAllKeys =
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have "
    "any effect. Try 'resetkeys' to start with an empty list of patterns";
constexpr std::string_view kAfterAllChannels =
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not "
    "have any effect. Try 'resetchannels' to start with an empty list of channels";

constexpr std::string_view kSanitize = "sanitize-payload";
constexpr std::string_view kSkipSanitize = "skip-sanitize-payload";

void SetAllKeys(AclSelector& selector, bool allowed) {
  selector.all_keys = allowed;
  selector.keys.clear();
}

void SetAllChannels(AclSelector& selector, bool allowed) {
  selector.all_channels = allowed;
  selector.channels.clear();
}

void SetAllCommands(AclSelector& selector, bool allowed) {
  selector.new_commands = allowed;
  selector.commands.clear();
  selector.first_args.clear();
  selector.command_rules.clear();
}

// Redis compares a rule that is one fixed word as a C string, which ends at a NUL.
std::string_view CText(std::string_view word) {
  return {word.begin(), std::find(word.begin(), word.end(), '\0')};
}

// Applies a rule for selectors that is one fixed word. Returns false if `word` is no such rule.
bool ApplySelectorWord(AclSelector& selector, std::string_view word) {
  const std::string_view text = CText(word);
  const auto is = [&](std::string_view name) { return IsWord(text, name); };
  if (is("allkeys") || is("~*") || is("resetkeys")) {
    SetAllKeys(selector, !is("resetkeys"));
  } else if (is("allchannels") || is("&*") || is("resetchannels")) {
    SetAllChannels(selector, !is("resetchannels"));
  } else if (is("allcommands") || is("+@all")) {
    SetAllCommands(selector, true);
  } else if (is("nocommands") || is("-@all")) {
    SetAllCommands(selector, false);
  } else {
    return false;
  }
  return true;
}

bool IsOneWord(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return absl::ascii_isspace(c) || c == '\0'; });
}

std::string_view AddKeyPattern(AclSelector& selector, std::string_view glob, unsigned rights) {
  if (!IsOneWord(glob)) return kSyntax;
  const auto same = std::find_if(selector.keys.begin(), selector.keys.end(),
                                 [&](const KeyPattern& one) { return one.glob == glob; });
  if (same != selector.keys.end()) {
    same->rights |= rights;
  } else {
    selector.keys.push_back({std::string(glob), rights});
  }
  return {};
}

// "~glob", "%R~glob", "%RW~glob" …
std::string_view AddKeys(AclSelector& selector, std::string_view rule) {
  if (selector.all_keys) return kAfterAllKeys;
  if (rule[0] == '~') return AddKeyPattern(selector, rule.substr(1), kMayRead | kMayWrite);
  unsigned rights = 0;
  for (size_t i = 1; i < rule.size(); ++i) {
    if (rule[i] == '~' && rights != 0) return AddKeyPattern(selector, rule.substr(i + 1), rights);
    const char letter = absl::ascii_toupper(static_cast<unsigned char>(rule[i]));
    const unsigned right = letter == 'R' ? kMayRead : letter == 'W' ? kMayWrite : 0u;
    if (right == 0 || (rights & right) != 0) return kSyntax;
    rights |= right;
  }
  return kSyntax;
}

std::string_view AddChannel(AclSelector& selector, std::string_view glob) {
  if (selector.all_channels) return kAfterAllChannels;
  if (!IsOneWord(glob)) return kSyntax;
  if (std::find(selector.channels.begin(), selector.channels.end(), glob) ==
      selector.channels.end()) {
    selector.channels.emplace_back(glob);
  }
  return {};
}

void SetCommand(AclSelector& selector, const CommandEntry& entry, bool allowed) {
  selector.commands[entry.id] = allowed;
  selector.first_args.erase(entry.id);
}

std::string_view SetCategory(AclSelector& selector, const CommandTable& table,
                             std::string_view name, bool allowed) {
  const auto categories = AllCategories(table);
  if (std::find(categories.begin(), categories.end(), name) == categories.end())
    return kUnknownCommandReason;
  for (const CommandEntry& entry : table.entries()) {
    if (HasCategory(entry, name)) SetCommand(selector, entry, allowed);
  }
  return {};
}

// "+select|0": allows the command with this first argument. The command must have no subcommands.
std::string_view AllowFirstArg(AclSelector& selector, const CommandTable& table,
                               std::string_view name, size_t bar) {
  const CommandEntry* const command = table.FindFullName(name.substr(0, bar));
  if (command == nullptr) return kUnknownCommandReason;
  if (command->parent != nullptr) return kFirstArgOfSubcommand;
  const std::string_view word = name.substr(bar + 1);
  if (word.empty()) return kSyntax;
  if (!command->command->subcommands.empty()) return kUnknownCommandReason;
  if (!IsOneWord(word)) return kSyntax;
  selector.first_args[command->id].emplace_back(word);
  return {};
}

// `name` is in lower case: a category, a command (with all its subcommands), one subcommand, or a
// command with a first argument.
std::string_view SetCommands(AclSelector& selector, const CommandTable& table,
                             std::string_view name, bool allowed) {
  selector.commands.resize(table.entries().size(), selector.new_commands);
  if (name.starts_with('@')) return SetCategory(selector, table, name.substr(1), allowed);
  const CommandEntry* const found = table.FindFullName(name);
  if (found == nullptr) {
    const size_t bar = name.rfind('|');
    return allowed && bar != name.npos ? AllowFirstArg(selector, table, name, bar)
                                       : kUnknownCommandReason;
  }
  SetCommand(selector, *found, allowed);
  for (const CommandEntry& entry : table.entries()) {
    if (entry.parent == found->command) SetCommand(selector, entry, allowed);
  }
  return {};
}

std::string_view ApplyCommandRule(AclSelector& selector, const CommandTable& table,
                                  std::string_view rule) {
  const std::string lower = absl::AsciiStrToLower(std::string(rule));
  const std::string_view name = std::string_view(lower).substr(1);
  const std::string_view error = SetCommands(selector, table, name, lower[0] == '+');
  if (!error.empty()) return error;
  // The new rule replaces older rules for the same name, and for its subcommands and first
  // arguments.
  std::erase_if(selector.command_rules, [&](const std::string& older) {
    const std::string_view same = std::string_view(older).substr(1, name.size());
    const size_t end = 1 + name.size();
    return IsWord(same, name) && (older.size() == end || older[end] == '|');
  });
  // A first argument keeps the letter case in which it was given; all else is shown in lower case.
  const bool is_first_arg = !name.starts_with('@') && table.FindFullName(name) == nullptr;
  const size_t told_lower = is_first_arg ? lower.rfind('|') : lower.size();
  selector.command_rules.push_back(lower.substr(0, told_lower).append(rule.substr(told_lower)));
  return {};
}

std::string_view ApplySelectorRule(AclSelector& selector, const CommandTable& table,
                                   std::string_view rule) {
  if (ApplySelectorWord(selector, rule)) return {};
  switch (rule[0]) {
    case '~':
    case '%':
      return AddKeys(selector, rule);
    case '&':
      return AddChannel(selector, rule.substr(1));
    case '+':
    case '-':
      return ApplyCommandRule(selector, table, rule);
    default:
      return kSyntax;
  }
}

bool IsHash(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string_view AddHash(AclUser& user, std::string_view hash) {
  if (!IsHash(hash)) return kBadHash;
  if (std::find(user.passwords.begin(), user.passwords.end(), hash) == user.passwords.end()) {
    user.passwords.emplace_back(hash);
  }
  user.any_password = false;
  return {};
}

std::string_view RemoveHash(AclUser& user, std::string_view hash) {
  if (!IsHash(hash)) return kBadHash;
  return std::erase(user.passwords, hash) > 0 ? std::string_view() : kNoSuchPassword;
}

std::string_view AddSelector(AclUser& user, const CommandTable& table, std::string_view rule) {
  const auto words = SplitArgs(rule.substr(1, rule.size() - 2));
  if (!words) return kSyntax;
  AclSelector selector;
  for (const std::string& word : *words) {
    if (word.empty()) return kSyntax;
    const std::string_view error = ApplySelectorRule(selector, table, word);
    if (!error.empty()) return error;
  }
  user.selectors.push_back(std::move(selector));
  return {};
}

// Applies a rule for users that is one fixed word. Returns false if `word` is no such rule.
bool ApplyUserWord(AclUser& user, std::string_view word) {
  const std::string_view text = CText(word);
  const auto is = [&](std::string_view name) { return IsWord(text, name); };
  if (is("on") || is("off")) {
    user.enabled = is("on");
  } else if (is("nopass") || is("resetpass")) {
    user.any_password = is("nopass");
    user.passwords.clear();
  } else if (is("clearselectors")) {
    user.selectors.clear();
  } else if (is("reset")) {
    user = AclUser(std::move(user.name));
    user.sanitizing = kSanitize;
  } else if (is(kSanitize) || is(kSkipSanitize)) {
    user.sanitizing = is(kSanitize) ? kSanitize : kSkipSanitize;
  } else {
    return false;
  }
  return true;
}

std::string_view ApplyRule(AclUser& user, const CommandTable& table, std::string_view rule) {
  if (ApplyUserWord(user, rule)) return {};
  const std::string_view rest = rule.substr(1);
  switch (rule[0]) {
    case '>':
      return AddHash(user, PasswordHash(rest));
    case '#':
      return AddHash(user, rest);
    case '<':
      return RemoveHash(user, PasswordHash(rest));
    case '!':
      return RemoveHash(user, rest);
    case '(':
      return rest.ends_with(')') ? AddSelector(user, table, rule) : kSyntax;
    default:
      return ApplySelectorRule(user.own, table, rule);
  }
}

// Removes the words of one rule from the front of `words` and returns the rule. A selector in
// parentheses may take several words; returns an empty string if it is not closed.
std::string TakeRule(std::span<const std::string_view>& words) {
  const bool opens = words.front().starts_with('(');
  std::string rule;
  for (size_t i = 0; i < words.size(); ++i) {
    StrAppend(rule, i == 0 ? "" : " ", words[i]);
    if (opens && !words[i].ends_with(')')) continue;
    words = words.subspan(i + 1);
    return rule;
  }
  return {};
}

}  // namespace

bool IsUserName(std::string_view text) { return IsOneWord(text); }

std::optional<AclRuleError> ApplyAclRules(AclUser& user, const CommandTable& table,
                                          std::span<const std::string_view> words) {
  while (!words.empty()) {
    const std::string_view first = words.front();
    if (first.empty()) {
      words = words.subspan(1);
      continue;
    }
    std::string rule = TakeRule(words);
    if (rule.empty()) return AclRuleError{std::string(first), {}};
    const std::string_view reason = ApplyRule(user, table, rule);
    if (!reason.empty()) return AclRuleError{std::move(rule), reason};
  }
  user.unrestricted = user.own.IsUnrestricted() ||
                      std::any_of(user.selectors.begin(), user.selectors.end(),
                                  [](const AclSelector& one) { return one.IsUnrestricted(); });
  return std::nullopt;
}

}  // namespace tally::server
