// Who a client is: logging in, and the state that a connection begins with.
#pragma once

#include <string_view>

#include "server/command/command_context.h"

namespace tally::server {

inline constexpr std::string_view kWrongPasswordError =
    "WRONGPASS invalid username-password pair or user is disabled.";

// Makes the client the user's if the password fits; otherwise nothing changes, and ACL LOG tells.
bool Login(CommandContext& context, std::string_view user, std::string_view password);
// The user that a client is before it has said a word.
void LoginAsDefault(AclUsers& users, Client& client);

}  // namespace tally::server
