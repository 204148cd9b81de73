// All users of the server, by name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/acl_user.h"
#include "server/command/command_table.h"
#include "server/config/config.h"

namespace tally::server {

inline constexpr std::string_view kDefaultUser = "default";

// A user stays valid for everyone who holds its shared_ptr, even after it has been removed here.
class AclUsers {
 public:
  // `table` and `config` must outlive this object. The default user always exists; at first it may
  // do everything.
  AclUsers(const CommandTable& table, const Config& config);

  // Null when there is none.
  std::shared_ptr<const AclUser> Find(std::string_view name);
  // The default user. If requirepass has changed, it first becomes the only password of this user;
  // with an empty requirepass no password is needed.
  const std::shared_ptr<AclUser>& default_user();
  // Returns true if the default user needs a password. If it needs none, protected mode refuses
  // clients of other machines. As in Redis it does not matter whether this user is on.
  bool DefaultNeedsPassword() { return !default_user()->any_password; }

  // Whether the default user needs this password.
  bool DefaultNeeds(std::string_view password);

  // Applies the rules of ACL SETUSER to the user, which is created if it does not exist. Applies
  // all rules and returns an empty string, or applies none and returns the text of the error.
  std::string Set(std::string_view name, std::span<const std::string_view> rules);
  // Returns false if there is no such user. Must not be called for the default user (asserted).
  bool Remove(std::string_view name);

  // Makes the users of the configuration's `user` lines, "name rule rule …", with quotes as
  // SplitArgs reads them. Returns an empty string, or what is wrong.
  std::string SetFromConfig(std::span<const std::string> lines);
  // The configuration lines that make all users again. The default user is left out unless Set has
  // changed it.
  std::vector<std::string> ConfigLines();

  // Replaces all users by those of an ACL file, which has lines of "user name rule …". Returns an
  // empty string, or what is wrong with the lines; then nothing has changed.
  std::string Load(std::string_view text, std::string_view file_name);
  // The text of an ACL file with all users.
  std::string Text();

  // Returns the user if it is enabled and either has this password or needs none; else null. A
  // password that is right in part takes as long to check as any other.
  std::shared_ptr<const AclUser> Authenticate(std::string_view name, std::string_view password);

  // Increases whenever a password may have changed, or the set of users who may log in.
  uint64_t version();

  using ByName = std::map<std::string, std::shared_ptr<AclUser>, std::less<>>;
  const ByName& all();

 private:
  // Adds the user of one line of an ACL file to `users`. Returns an empty string, or what is wrong.
  std::string LoadLine(std::string_view line, std::string_view place, ByName& users) const;

  const CommandTable& table_;
  const Config& config_;
  ByName users_;
  std::shared_ptr<AclUser> default_user_;
  bool default_has_rules_ = false;
  std::string applied_requirepass_;
  uint64_t version_ = 1;
};

}  // namespace tally::server
