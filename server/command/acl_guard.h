// Stands before every call of a client: whether its user may make it, with a line in ACL LOG if
// not.
#pragma once

#include <string_view>

#include "server/acl/acl_check.h"
#include "server/state/server_state.h"

namespace tally::server {

// `place` is where the call comes from: toplevel, multi or lua.
AclVerdict GuardCall(ServerState& server, const Client& client, const CommandTable::Item& item,
                     Args args, std::string_view place);

void LogFailedLogin(ServerState& server, const Client& client, std::string_view command,
                    std::string_view user);

}  // namespace tally::server
