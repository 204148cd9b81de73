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

// Who holds a user keeps it, also when it is no longer among them.
class AclUsers {
 public:
  // Both outlive the users. There is always the default user, at first allowed to do everything.
  AclUsers(const CommandTable& table, const Config& config);

  // Null when there is none.
  std::shared_ptr<const AclUser> Find(std::string_view name);
  // The default user; requirepass, when it changes, becomes its only password.
  const std::shared_ptr<AclUser>& default_user();
  // Whether nobody becomes the default user without a word: protected mode lets others in then. As
  // in Redis it does not matter whether that user is on.
  bool DefaultNeedsPassword() { return !default_user()->any_password; }

  // The rules of ACL SETUSER. Applies all of them, or none: then gives the text of the error. Makes
  // a new user if there is none of that name.
  std::string Set(std::string_view name, std::span<const std::string_view> rules);
  // False when there is none. Not for the default user.
  bool Remove(std::string_view name);

  // Makes the users of the configuration's lines, "name rule rule …", with quotes as SplitArgs
  // reads them. Empty, or what is wrong.
  std::string SetFromConfig(std::span<const std::string> lines);
  // The lines that make all users again; not the default user unless a rule was set for it.
  std::vector<std::string> ConfigLines();

  // Puts the users of an ACL file, with lines of "user name rule …", in the place of all there are.
  // Empty, or what is wrong with its lines; then nothing has changed.
  std::string Load(std::string_view text, std::string_view file_name);
  // An ACL file of all users.
  std::string Text();

  // The user, if it is enabled and the password is its own; else null. Takes as long whatever part
  // of the password is right.
  std::shared_ptr<const AclUser> Authenticate(std::string_view name, std::string_view password);

  // Rises whenever a password, or who may log in, may have changed.
  uint64_t version();

  using ByName = std::map<std::string, std::shared_ptr<AclUser>, std::less<>>;
  const ByName& all();

 private:
  // Reads a line of an ACL file into `users`. Empty, or what is wrong.
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
