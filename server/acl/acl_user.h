// A user: its passwords, and what it may do.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/acl/acl_selector.h"

namespace tally::server {

struct AclUser {
  explicit AclUser(std::string user_name) : name(std::move(user_name)) {}

  std::string name;
  bool enabled = false;
  bool any_password = false;           // "nopass"
  std::vector<std::string> passwords;  // SHA-256 in hexadecimal
  // "sanitize-payload" or "skip-sanitize-payload", if one was set: for RESTORE, which there is none
  // of, and to be shown.
  std::string_view sanitizing;
  AclSelector own;
  std::vector<AclSelector> selectors;  // those in parentheses

  // Whether there is a selector that allows everything, so that nothing needs to be checked.
  bool unrestricted = false;

  // Whether a selector lets it listen to the channel, or to the pattern.
  bool MayListenTo(std::string_view channel, bool is_pattern) const;
};

// "on" or "off", and others.
std::vector<std::string_view> FlagsOf(const AclUser& user);
// The words that make its rights again, parted by blanks.
std::string RulesText(const AclUser& user);
// The whole user, as a line of an ACL file. The name is what is between the first two blanks,
// and may be empty.
std::string DescribeUser(const AclUser& user);

}  // namespace tally::server
