// What MONITOR shows.
#pragma once

#include "server/command/command.h"
#include "server/state/client.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {

// Shows those who watch a command that `client` ran. One that watches and runs it itself gets
// the line after the command's reply. Nearly always there is nobody.
void ShowToMonitors(ClientTable& clients, const Clock& clock, const Client& client, Args args);
inline void FeedMonitors(ClientTable& clients, const Clock& clock, const Client& client,
                         Args args) {
  if (!clients.monitors().empty()) [[unlikely]]
    ShowToMonitors(clients, clock, client, args);
}

}  // namespace tally::server
