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
  // "sanitize-payload" or "skip-sanitize-payload" if one was set, else empty. It is only shown: in
  // Redis it is for RESTORE, which this server does not have.
  std::string_view sanitizing;
  AclSelector own;
  std::vector<AclSelector> selectors;  // from rules in parentheses

  // Whether there is a selector that allows everything, so that nothing needs to be checked.
  bool unrestricted = false;

  // Returns true if a selector lets the user subscribe to the channel, or to the pattern.
  bool MayListenTo(std::string_view channel, bool is_pattern) const;
};

// "on" or "off", then "nopass" and the value of `sanitizing` if they are set.
std::vector<std::string_view> FlagsOf(const AclUser& user);
// The rules that make the rights of this user again, separated by spaces.
std::string RulesText(const AclUser& user);
// The whole user as a line of an ACL file. The name is the text between the first two spaces, and
// may be empty.
std::string DescribeUser(const AclUser& user);

}  // namespace tally::server
