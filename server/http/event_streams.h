// The clients that read GET /events, and what is published to them.
//
// A handler makes the connection one of them by a response that `streams`. PeriodicWork publishes
// once a second, and only while there are some, so that nobody pays who does not look. A client
// that does not read misses events, and is closed at the limit for subscribers of
// client-output-buffer-limit.
#pragma once

#include <string_view>
#include <vector>

#include "server/state/client_table.h"

namespace tally::server {

class EventStreams {
 public:
  explicit EventStreams(ClientTable& clients) : clients_(clients) {}

  // Until Remove; a client that is not among them may be removed.
  void Add(Client& client);
  void Remove(Client& client);
  bool empty() const { return streams_.empty(); }
  size_t size() const { return streams_.size(); }

  // Sends an event to all whose earlier ones are sent. Neither text has a line end.
  // O(bytes + clients).
  void Publish(std::string_view event, std::string_view data);

 private:
  ClientTable& clients_;
  std::vector<Client*> streams_;
};

}  // namespace tally::server
