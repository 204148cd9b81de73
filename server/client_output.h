// Sends what the clients are to get, when what they wrote has been logged: short output at once,
// and long output in shares, so that those who get much leave time for the others.
#pragma once

#include <vector>

#include "server/state/client_table.h"
#include "server/state/stats.h"

namespace tally::server {

class ClientOutput {
 public:
  ClientOutput(ClientTable& clients, const Stats& stats) : clients_(clients), stats_(stats) {}

  // Sends to all that are marked in the table. Who has more to send is marked again.
  void Flush();
  // When the log could not be written: what is not logged must not be acknowledged, so those who
  // wrote lose the replies of this turn, and their connection.
  void DropUnlogged();

 private:
  void FlushLarge();

  ClientTable& clients_;
  const Stats& stats_;
  std::vector<Client*> large_;  // of those to flush: have much output
};

}  // namespace tally::server
