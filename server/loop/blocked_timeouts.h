// Ends the waits of blocked clients whose time is over. One timer serves all of them: it is set for
// the earliest deadline.
#pragma once

#include <cstdint>

#include "server/dispatch/dispatcher.h"
#include "server/interfaces/services.h"
#include "server/net/timer.h"

namespace tally::server {

class BlockedTimeouts {
 public:
  BlockedTimeouts(EventPoller& poller, Services& server, Dispatcher& dispatcher)
      : timer_(poller, [this] { Expire(); }), server_(server), dispatcher_(dispatcher) {}

  // Called at the end of each turn.
  void Schedule();
  // Called when the timer expires: ends the waits that are due, at most a thousand of them.
  void Expire();

 private:
  Timer timer_;
  Services& server_;
  Dispatcher& dispatcher_;
  int64_t set_for_ms_ = INT64_MAX;  // the deadline for which the timer is set
};

}  // namespace tally::server
