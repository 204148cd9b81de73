// Closes connections that exceed a limit: silent for too long (`timeout`), over
// client-output-buffer-limit, or the largest ones while all clients together hold more than
// maxmemory-clients.
#pragma once

#include <cstddef>

#include "server/interfaces/services.h"
#include "server/net/connection_table.h"

namespace tally::server {

class ClientLimits {
 public:
  ClientLimits(Services& server, ConnectionTable& connections)
      : server_(server), connections_(connections) {}

  // Called at each tick of PeriodicWork.
  void Apply();

 private:
  void EnforceLimits();
  void Evict();

  Services& server_;
  ConnectionTable& connections_;
  size_t next_part_ = 0;
};

}  // namespace tally::server
