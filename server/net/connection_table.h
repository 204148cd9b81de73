// Owns the connections from the accepted socket to the end of the turn in which they close, or of
// the one in which they leave the queue.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "server/dispatch/dispatcher.h"
#include "server/http/http_site.h"
#include "server/interfaces/services.h"
#include "server/net/connection.h"
#include "server/net/event_poller.h"

namespace tally::server {

class ConnectionTable final : private ConnectionOwner {
 public:
  // `poller` watches the sockets of new connections, which wait for their turn in `queue`. HTTP
  // connections serve `site`.
  ConnectionTable(Services& server, Dispatcher& dispatcher, HttpSite& site, ConnectionQueue& queue,
                  EventPoller& poller);

  // Takes ownership of the socket. `ssl` is null for a connection without TLS.
  void Open(int socket, SslPointer ssl, Protocol protocol, std::string peer, std::string local);
  size_t size() const { return by_client_.size(); }
  size_t http_size() const { return site_.sessions; }
  // In no order; `visit` may close connections.
  template <typename Visit>
  void ForEach(Visit&& visit) {
    for (const auto& [client, connection] : by_client_) visit(*connection);
  }
  // The same for one of `parts` parts of the connections. Each is always in the same part.
  template <typename Visit>
  void ForEachIn(size_t part, size_t parts, Visit&& visit) const {
    for (const auto& [client, connection] : by_client_) {
      if (absl::HashOf(client) % parts == part) visit(*connection);
    }
  }

  // Drops the connections that have closed and are in no queue. Called at the end of a turn.
  // Returns false if there were none.
  bool EraseClosed();

 private:
  void Forget(Client& client) override;
  std::unique_ptr<Conversation> MakeConversation(Protocol protocol);

  Services& server_;
  Dispatcher& dispatcher_;
  HttpSite& site_;
  ConnectionQueue& queue_;
  EventPoller& poller_;
  absl::flat_hash_map<Client*, std::unique_ptr<Connection>> by_client_;
  // Closed connections stay until the turn ends, because lists of this turn may point to them.
  std::vector<Client*> closed_;
};

}  // namespace tally::server
