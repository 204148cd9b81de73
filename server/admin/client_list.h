// CLIENT LIST and CLIENT KILL: which connections they mean.
#pragma once

#include "server/admin/server_context.h"

namespace tally::server {

void ClientList(ServerContext& context, Services& server);
void ClientKill(ServerContext& context, Services& server);

}  // namespace tally::server
