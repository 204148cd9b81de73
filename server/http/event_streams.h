// The clients that read GET /events, and the sending of events to them.
//
// A connection becomes such a client when a handler returns a response with `streams` set.
// PeriodicWork publishes once a second, and only while there is such a client, so that events cost
// nothing when nobody reads them. A client that reads too slowly misses events. Its output has the
// pubsub limit of client-output-buffer-limit, and it is closed if it takes no output for 75 s, or
// if its user may no longer read events (see HttpSession::CheckDeadlines).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/bytes/byte_blocks.h"
#include "server/state/client_table.h"

namespace tally::server {

class EventStreams {
 public:
  explicit EventStreams(ClientTable& clients) : clients_(clients) {}

  // The client gets events until Remove, and must live until then. Remove does nothing for a client
  // that was not added. O(1).
  void Add(Client& client);
  void Remove(Client& client);
  bool empty() const { return streams_.empty(); }
  size_t size() const { return streams_.size(); }

  // Sends an event to each client that has at most 256 KiB of unsent output: to the first ones now,
  // to the others by Continue(), because thousands of sends would stop everybody for as long as
  // they take. Who has not got the event before it gets no more than the next one. Neither text may
  // contain CR or LF; this is asserted. O(bytes + clients that it is sent to now).
  void Publish(std::string_view event, std::string_view data);
  // Sends the event to the next clients: at least kLeastAtOnce, and so many that kSteps calls reach
  // all.
  void Continue();
  static constexpr size_t kLeastAtOnce = 100;
  static constexpr size_t kSteps = 16;

 private:
  ClientTable& clients_;
  std::vector<Client*> streams_;
  absl::flat_hash_map<const Client*, size_t> places_;  // of each client in streams_
  SharedBytes message_;                                // the event that was published last
  size_t reached_ = 0;  // the first clients, which need not be sent the event any more
};

}  // namespace tally::server
