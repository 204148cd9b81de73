// The work that is done every 50 ms, whether or not clients send requests: rates, memory figures,
// the past that the web page draws, the files, upkeep of the data, limits on clients, paused
// listeners, and the events of the page.
#pragma once

#include "server/durability/aof_persistence.h"
#include "server/http/event_streams.h"
#include "server/interfaces/services.h"
#include "server/loop/client_limits.h"
#include "server/loop/data_upkeep.h"
#include "server/net/listeners.h"
#include "server/net/timer.h"
#include "server/net/turn_clock.h"

namespace tally::server {

// The parts that have work at each tick.
struct PeriodicParts {
  AofPersistence& persistence;
  DataUpkeep& data;
  ClientLimits& clients;
  Listeners& listeners;
  EventStreams& events;
};

class PeriodicWork {
 public:
  PeriodicWork(EventPoller& poller, Services& server, TurnClock& turn_clock, PeriodicParts parts)
      : timer_(poller, [this] { Tick(); }),
        server_(server),
        turn_clock_(turn_clock),
        parts_(parts) {}

  void Start();

 private:
  void Tick();
  // Logs what refuses clients now, and what no longer does.
  void ReportTroubles();
  void SampleRates();
  // Publishes once a second, and only if a client reads the events.
  void PublishEvents();

  Timer timer_;
  Services& server_;
  TurnClock& turn_clock_;
  const PeriodicParts parts_;
  int64_t published_us_ = 0;
};

}  // namespace tally::server
