// Shows commands to the clients that run MONITOR.
#pragma once

#include "server/command/command.h"
#include "server/state/client.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {

// Shows a command that `client` ran to all monitors. A monitor that ran it itself gets the line
// after the reply of the command. FeedMonitors is quick if there are no monitors, which is nearly
// always so.
void ShowToMonitors(ClientTable& clients, const Clock& clock, const Client& client, Args args);
inline void FeedMonitors(ClientTable& clients, const Clock& clock, const Client& client,
                         Args args) {
  if (!clients.monitors().empty()) [[unlikely]]
    ShowToMonitors(clients, clock, client, args);
}

}  // namespace tally::server
