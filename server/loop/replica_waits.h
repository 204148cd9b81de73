// Ends the waits of WAIT when enough replicas have acknowledged, and keeps asking them while
// anybody waits.
#pragma once

#include <cstdint>

#include "server/dispatch/dispatcher.h"
#include "server/interfaces/services.h"

namespace tally::server {

class ReplicaWaits {
 public:
  ReplicaWaits(Services& server, Dispatcher& dispatcher)
      : server_(server), dispatcher_(dispatcher) {}

  // To be called when a replica has acknowledged anything.
  void Serve();
  // To be called every few dozen milliseconds.
  void Tick();

 private:
  Services& server_;
  Dispatcher& dispatcher_;
  int64_t asked_ms_ = 0;  // steady ms
};

}  // namespace tally::server
