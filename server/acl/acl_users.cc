#include "server/acl/acl_users.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <set>

#include "core/base/check.h"
#include "core/bytes/str_cat.h"
#include "server/acl/acl_rules.h"
#include "server/acl/password_hash.h"
#include "server/config/value_text.h"
#include "server/resp/split_args.h"

namespace tally::server {
namespace {

using RuleWords = std::vector<std::string_view>;

// Removes the text up to the next space, and that space. Returns the text without the space.
std::string_view TakeWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

// Splits a text of rules at blanks. No word is empty.
RuleWords SplitRules(std::string_view text) {
  RuleWords words;
  const absl::string_view all(text.data(), text.size());
  for (const absl::string_view word :
       absl::StrSplit(all, absl::ByAnyChar(" \t\r"), absl::SkipEmpty())) {
    words.emplace_back(word.data(), word.size());
  }
  return words;
}

std::string SetUserError(const AclRuleError& error) {
  if (error.reason.empty()) {
    return StrCat("Unmatched parenthesis in acl selector starting at '", error.rule, "'.");
  }
  // Redis prints the rule only up to a NUL.
  const std::string_view rule = std::string_view(error.rule).substr(0, error.rule.find('\0'));
  return StrCat("Error in ACL SETUSER modifier '", rule, "': ", error.reason);
}

void Apply(AclUser& user, const CommandTable& table, std::span<const std::string_view> rules) {
  const auto error = ApplyAclRules(user, table, rules);
  Check(!error, "rules of our own are rules");
}

AclUser MakeDefaultUser(const CommandTable& table) {
  constexpr std::string_view kEverything[] = {"on", "nopass", "~*", "&*", "+@all"};
  AclUser user{std::string(kDefaultUser)};
  Apply(user, table, kEverything);
  return user;
}

}  // namespace

AclUsers::AclUsers(const CommandTable& table, const Config& config)
    : table_(table),
      config_(config),
      default_user_(std::make_shared<AclUser>(MakeDefaultUser(table))) {
  users_.emplace(kDefaultUser, default_user_);
}

std::shared_ptr<const AclUser> AclUsers::Find(std::string_view name) {
  const auto& users = all();
  const auto it = users.find(name);
  return it == users.end() ? nullptr : it->second;
}

const std::shared_ptr<AclUser>& AclUsers::default_user() {
  if (config_.requirepass != applied_requirepass_) {
    ++version_;
    applied_requirepass_ = config_.requirepass;
    const std::string password = StrCat(">", applied_requirepass_);
    const std::string_view rules[] = {
        "resetpass", applied_requirepass_.empty() ? std::string_view("nopass") : password};
    Apply(*default_user_, table_, rules);
  }
  return default_user_;
}

bool AclUsers::DefaultNeeds(std::string_view password) {
  const AclUser& user = *default_user();
  const std::string hash = PasswordHash(password);
  return !user.any_password &&
         std::find(user.passwords.begin(), user.passwords.end(), hash) != user.passwords.end();
}

std::string AclUsers::Set(std::string_view name, std::span<const std::string_view> rules) {
  const auto old = Find(name);
  AclUser changed = old != nullptr ? *old : AclUser(std::string(name));
  if (const auto error = ApplyAclRules(changed, table_, rules)) return SetUserError(*error);
  ++version_;
  default_has_rules_ |= old == default_user_;
  if (old != nullptr) {
    *users_.find(name)->second = std::move(changed);
  } else {
    users_.emplace(name, std::make_shared<AclUser>(std::move(changed)));
  }
  return {};
}

bool AclUsers::Remove(std::string_view name) {
  Check(name != kDefaultUser, "the default user stays");
  const auto it = users_.find(name);
  if (it == users_.end()) return false;
  users_.erase(it);
  ++version_;
  return true;
}

uint64_t AclUsers::version() {
  static_cast<void>(default_user());  // applies requirepass if it has changed
  return version_;
}

std::string AclUsers::SetFromConfig(std::span<const std::string> lines) {
  std::set<std::string> names;
  for (const std::string& line : lines) {
    const auto read = SplitArgs(line);
    if (!read || read->empty()) return StrCat("'", line, "' is no user: name rule rule …");
    RuleWords words(read->begin(), read->end());
    const std::string_view name = words[0];
    if (!IsUserName(name)) return StrCat("'", name, "': ", kBadUserName);
    if (!names.insert(std::string(name)).second) {
      return StrCat("Duplicate user '", name, "' found. A user can only be defined once");
    }
    // Only the default user can exist already; its old rules are reset.
    words[0] = Find(name) != nullptr ? "reset" : "";
    const std::string error = Set(name, words);
    if (!error.empty()) return StrCat("User '", name, "': ", error);
  }
  return {};
}

std::vector<std::string> AclUsers::ConfigLines() {
  std::vector<std::string> lines;
  for (const auto& [name, user] : all()) {
    if (user == default_user_ && !default_has_rules_) continue;
    std::vector<std::string> words = SplitAtSpaces(RulesText(*user));
    words.insert(words.begin(), name);
    lines.push_back(JoinQuoted(words));
  }
  return lines;
}

std::string AclUsers::LoadLine(std::string_view line, std::string_view place, ByName& users) const {
  const auto trimmed = absl::StripAsciiWhitespace(absl::string_view(line.data(), line.size()));
  line = {trimmed.data(), trimmed.size()};
  if (line.empty()) return {};
  const bool is_alone = line.find(' ') == line.npos;
  if (TakeWord(line) != "user" || is_alone) {
    return StrCat(place, " should start with user keyword followed by the username. ");
  }
  const std::string name(TakeWord(line));
  if (!IsUserName(name)) {
    return StrCat(place, ": username '", name, "' contains invalid characters. ");
  }
  AclUser user(name);
  const auto error = ApplyAclRules(user, table_, SplitRules(line));
  if (error && error->reason.empty()) {
    return StrCat(place, ": Unmatched parenthesis in selector definition.");
  }
  if (error && error->reason == kUnknownCommandReason) {
    return StrCat(place, ": Error in applying operation '", error->rule, "': ", error->reason,
                  ". ");
  }
  if (error) return StrCat(place, ": ", error->reason, ". ");
  if (!users.emplace(name, std::make_shared<AclUser>(std::move(user))).second) {
    return StrCat("WARNING: Duplicate user '", name, "' found on line ",
                  place.substr(place.rfind(':') + 1), ". ");
  }
  return {};
}

std::string AclUsers::Load(std::string_view text, std::string_view file_name) {
  ByName users;
  std::string errors;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    errors += LoadLine(text.substr(0, end), StrCat(file_name, ':', number), users);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!errors.empty()) {
    return StrCat(errors,
                  "WARNING: ACL errors detected, no change to the previously active ACL rules was "
                  "performed");
  }
  // Clients hold pointers to the default user, so it is changed in place.
  const auto loaded = users.find(kDefaultUser);
  *default_user_ = loaded != users.end() ? *loaded->second : MakeDefaultUser(table_);
  applied_requirepass_ = config_.requirepass;
  users.insert_or_assign(std::string(kDefaultUser), default_user_);
  users_ = std::move(users);
  ++version_;
  return {};
}

std::string AclUsers::Text() {
  std::string text;
  for (const auto& [name, user] : all()) StrAppend(text, DescribeUser(*user), "\n");
  return text;
}

std::shared_ptr<const AclUser> AclUsers::Authenticate(std::string_view name,
                                                      std::string_view password) {
  std::shared_ptr<const AclUser> user = Find(name);
  if (user == nullptr || !user->enabled) return nullptr;
  if (user->any_password) return user;
  const std::string hash = PasswordHash(password);
  bool fits = false;
  for (const std::string& known : user->passwords) {
    fits |= CRYPTO_memcmp(known.data(), hash.data(), hash.size()) == 0;
  }
  return fits ? user : nullptr;
}

const AclUsers::ByName& AclUsers::all() {
  default_user();
  return users_;
}

}  // namespace tally::server
