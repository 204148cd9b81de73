// Checks every call of a client: which user the client is, and whether this user may make the call.
// Each denied call and each failed login is added to ACL LOG.
#pragma once

#include <string_view>

#include "server/acl/acl_check.h"
#include "server/acl/acl_log.h"
#include "server/acl/acl_users.h"
#include "server/config/config.h"
#include "server/state/client.h"
#include "server/state/clock.h"

namespace tally::server {

inline constexpr std::string_view kWrongPasswordError =
    "WRONGPASS invalid username-password pair or user is disabled.";

class AclGuard {
 public:
  AclGuard(AclUsers& users, AclLog& log, const Clock& clock, const Config& config)
      : users_(users), log_(log), clock_(clock), config_(config) {}

  // `place` says where the call comes from: "toplevel", "multi" or "lua". ACL LOG keeps the view,
  // so it must be a string literal.
  AclVerdict Check(const Client& client, const CommandEntry& entry, Args args,
                   std::string_view place);
  // Logs the client in as `user` and returns true if the password is right. Otherwise nothing
  // changes and ACL LOG gets an entry, in which `command` says how the client tried to log in.
  bool Login(Client& client, std::string_view command, std::string_view user,
             std::string_view password);

 private:
  void AddToLog(const Client& client, std::string_view reason, std::string_view place,
                std::string_view object, std::string_view user);

  AclUsers& users_;
  AclLog& log_;
  const Clock& clock_;
  const Config& config_;
};

// Makes a new client the default user. The client counts as logged in if that user is on and needs
// no password.
void LoginAsDefault(AclUsers& users, Client& client);

}  // namespace tally::server
