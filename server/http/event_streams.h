// The clients that read GET /events, and the sending of events to them.
//
// A connection becomes such a client when a handler returns a response with `streams` set.
// PeriodicWork publishes once a second, and only while there is such a client, so that events cost
// nothing when nobody reads them. A client that reads too slowly misses events. Its output has the
// pubsub limit of client-output-buffer-limit, and it is closed if it takes no output for 75 s, or
// if its user may no longer read events (see HttpSession::CheckDeadlines).
#pragma once

#include <string_view>
#include <vector>

#include "server/state/client_table.h"

namespace tally::server {

class EventStreams {
 public:
  explicit EventStreams(ClientTable& clients) : clients_(clients) {}

  // The client gets events until Remove, and must live until then. Remove does nothing for a client
  // that was not added.
  void Add(Client& client);
  void Remove(Client& client);
  bool empty() const { return streams_.empty(); }
  size_t size() const { return streams_.size(); }

  // Sends an event to each client that has at most 256 KiB of unsent output. Neither text may
  // contain CR or LF; this is asserted. O(bytes + clients).
  void Publish(std::string_view event, std::string_view data);

 private:
  ClientTable& clients_;
  std::vector<Client*> streams_;
};

}  // namespace tally::server
