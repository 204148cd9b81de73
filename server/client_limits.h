// Closes the connections that exceed a limit over time: idle for longer than `timeout`, output that
// waits for too long, and more memory for all clients than maxmemory-clients.
#pragma once

#include "server/connection_table.h"
#include "server/state/services.h"

namespace tally::server {

class ClientLimits {
 public:
  ClientLimits(Services& server, ConnectionTable& connections)
      : server_(server), connections_(connections) {}

  // At each tick of the clock.
  void Apply();

 private:
  void CloseIdle();
  void Evict();

  Services& server_;
  ConnectionTable& connections_;
};

}  // namespace tally::server
