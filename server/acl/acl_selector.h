// What may be done: a set of commands, key patterns and channels. A user has one of its own, and
// may have more; a call has to fit one of them as a whole.
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
  bool new_commands = false;  // whether what no rule names is allowed
  // By CommandTable::Item::id, as the rules came out; those after the end are as new ones.
  std::vector<bool> commands;
  // Of commands that are allowed with some first arguments only, in lower case.
  std::map<size_t, std::vector<std::string>> first_args;
  // "+get", "-@set", in their order; "+@all" and "-@all" are given by new_commands.
  std::vector<std::string> command_rules;

  bool all_keys = false;
  std::vector<KeyPattern> keys;
  bool all_channels = false;
  std::vector<std::string> channels;

  // Nothing needs to be checked.
  bool IsUnrestricted() const;
  bool MayRun(size_t command_id, Args args) const;
  // One pattern has to give all the rights.
  bool MayUseKey(std::string_view key, unsigned rights) const;
  bool MayReadEveryKey() const;
  // A pattern to listen to has to be one of the selector's own, word for word.
  bool MayUseChannel(std::string_view channel, bool is_pattern) const;
};

// As ACL LIST and ACL GETUSER show them, in the words that make them again.
std::string KeysText(const AclSelector& selector);
std::string ChannelsText(const AclSelector& selector);
std::string CommandsText(const AclSelector& selector);
std::string DescribeSelector(const AclSelector& selector);
// The same as one rule, "(~a:* +get)", with words in quotes where they would not be read back.
std::string DescribeInParentheses(const AclSelector& selector);

}  // namespace tally::server
