// The rules of ACL SETUSER: parses them and applies them to a user.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/acl/acl_user.h"
#include "server/command/command_table.h"

namespace tally::server {

inline constexpr std::string_view kUnknownCommandReason = "Unknown command or category name in ACL";

// Returns true if `text` has neither white space nor NUL, because a user is saved as words of one
// line. A name may be empty.
bool IsUserName(std::string_view text);
inline constexpr std::string_view kBadUserName =
    "Usernames can't contain spaces or null characters";

struct AclRuleError {
  std::string rule;
  std::string_view reason;  // empty if the rule opens a parenthesis that is not closed
};

// Applies rules such as "on", ">secret", "~orders:*", "+@read" or "(~a:* +get)" to the user, in
// their order. A selector in parentheses may be spread over several words. Returns the first
// invalid rule, or nullopt; after an error the user may be changed in part.
std::optional<AclRuleError> ApplyAclRules(AclUser& user, const CommandTable& table,
                                          std::span<const std::string_view> words);

}  // namespace tally::server
