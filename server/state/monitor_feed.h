// What MONITOR shows.
#pragma once

#include "server/command/command.h"
#include "server/state/client.h"
#include "server/state/server_state.h"

namespace tally::server {

// Tells those who watch of a command that `client` ran. One that watches and runs it itself gets
// the line behind the command's reply.
void FeedMonitors(ServerState& server, const Client& client, Args args);

}  // namespace tally::server
