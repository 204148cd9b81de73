#include "server/acl/acl_user.h"

#include <algorithm>

#include "core/bytes/str_cat.h"

namespace tally::server {

bool AclUser::MayListenTo(std::string_view channel, bool is_pattern) const {
  return own.MayUseChannel(channel, is_pattern) ||
         std::any_of(selectors.begin(), selectors.end(), [&](const AclSelector& selector) {
           return selector.MayUseChannel(channel, is_pattern);
         });
}

std::vector<std::string_view> FlagsOf(const AclUser& user) {
  std::vector<std::string_view> flags = {user.enabled ? "on" : "off"};
  if (user.any_password) flags.push_back("nopass");
  if (!user.sanitizing.empty()) flags.push_back(user.sanitizing);
  return flags;
}

std::string RulesText(const AclUser& user) {
  std::string text;
  for (const std::string_view flag : FlagsOf(user)) {
    StrAppend(text, text.empty() ? "" : " ", flag);
  }
  for (const std::string& hash : user.passwords) StrAppend(text, " #", hash);
  StrAppend(text, " ", DescribeSelector(user.own));
  for (const AclSelector& selector : user.selectors) {
    StrAppend(text, " ", DescribeInParentheses(selector));
  }
  return text;
}

std::string DescribeUser(const AclUser& user) {
  return StrCat("user ", user.name, " ", RulesText(user));
}

}  // namespace tally::server
