// Stands before every call of a client: who it is, and whether its user may make the call. What is
// refused gets a line in ACL LOG.
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

  // `place` is where the call comes from: toplevel, multi or lua.
  AclVerdict Check(const Client& client, const CommandTable::Item& item, Args args,
                   std::string_view place);
  // Makes the client the user's if the password fits; otherwise nothing changes. `command` is the
  // word by which it logs in.
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

// The user that a client is before it has said a word.
void LoginAsDefault(AclUsers& users, Client& client);

}  // namespace tally::server
