// A selector says what may be done: a set of commands, key patterns and channels. A user has one
// selector of its own and may have more. A call is allowed if one of them allows all of it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/command/command.h"

namespace tally::server {

inline constexpr unsigned kMayRead = 1;
inline constexpr unsigned kMayWrite = 2;

struct KeyPattern {
  std::string glob;
  unsigned rights;  // kMayRead, kMayWrite or both
};

struct AclSelector {
  bool new_commands = false;  // whether commands that no rule names are allowed
  // Whether each command is allowed, by CommandEntry::id. For ids after the end, new_commands
  // says it.
  std::vector<bool> commands;
  // By command id: the first arguments, in lower case, with which a command is allowed that is not
  // allowed as a whole.
  std::map<size_t, std::vector<std::string>> first_args;
  // Rules such as "+get" and "-@set", in their order. "+@all" and "-@all" are never in here: they
  // set new_commands.
  std::vector<std::string> command_rules;

  bool all_keys = false;
  std::vector<KeyPattern> keys;
  bool all_channels = false;
  std::vector<std::string> channels;

  // Returns true if the selector allows everything, so that no call needs to be checked.
  bool IsUnrestricted() const;
  bool MayRun(size_t command_id, Args args) const;
  // A single pattern must give all of `rights`; the rights of several patterns are not combined.
  bool MayUseKey(std::string_view key, unsigned rights) const;
  bool MayReadEveryKey() const;
  // A channel must match one of the patterns. A pattern to subscribe to (`is_pattern`) must be
  // equal to one of them, byte for byte.
  bool MayUseChannel(std::string_view channel, bool is_pattern) const;
};

// The texts that ACL LIST and ACL GETUSER show. As rules they make the same selector again.
std::string KeysText(const AclSelector& selector);
std::string ChannelsText(const AclSelector& selector);
std::string CommandsText(const AclSelector& selector);
std::string DescribeSelector(const AclSelector& selector);
// The same as one rule, "(~a:* +get)". Words that would not be read back unchanged are in quotes.
std::string DescribeInParentheses(const AclSelector& selector);

}  // namespace tally::server
