// Sends the output of the clients at the end of a turn, after the effects of their commands have
// been logged. Short output is sent at once. Long output is sent in shares, so that clients with
// much output leave time for the others.
#pragma once

#include <cstdint>
#include <vector>

#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

class ClientOutput {
 public:
  // `now_us` is asked only if there is long output.
  ClientOutput(ClientTable& clients, const Stats& stats,
               int64_t (*now_us)() = Clock::MonotonicMicros)
      : clients_(clients), stats_(stats), now_us_(now_us) {}

  // Sends the output of all clients that are marked in the table. A client that has more to send is
  // marked again.
  void Flush();
  // Called when the log could not be written. What is not logged must not be acknowledged, so the
  // clients that wrote in this turn lose their unsent output and their connection.
  void DropUnlogged();

 private:
  void FlushLarge();

  ClientTable& clients_;
  const Stats& stats_;
  int64_t (*const now_us_)();
  // Of one flush; members, so that their memory is used again.
  std::vector<Client*> pending_;
  std::vector<Client*> large_;  // those that have much output
};

}  // namespace tally::server
