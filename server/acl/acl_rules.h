// The words of ACL SETUSER.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/acl/acl_user.h"
#include "server/command/command_table.h"

namespace tally::server {

inline constexpr std::string_view kUnknownCommandReason = "Unknown command or category name in ACL";

// Users are written down as words of a line: neither white space nor NUL. A name may be empty.
bool IsUserName(std::string_view text);
inline constexpr std::string_view kBadUserName =
    "Usernames can't contain spaces or null characters";

struct AclRuleError {
  std::string rule;
  std::string_view reason;  // empty if the rule opens a parenthesis that is not closed
};

// Applies rules such as "on", ">secret", "~orders:*", "+@read" or "(~a:* +get)" to the user, in
// their order; a selector in parentheses may be spread over several words. Gives the first that is
// no rule; then the user may be changed in part.
std::optional<AclRuleError> ApplyAclRules(AclUser& user, const CommandTable& table,
                                          std::span<const std::string_view> words);

}  // namespace tally::server
