// Owns the connections from the accepted socket to the end of the turn in which they close.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "server/connection.h"
#include "server/dispatcher.h"
#include "server/http/http_site.h"
#include "server/ready_set.h"
#include "server/state/services.h"

namespace tally::server {

class ConnectionTable final : private ConnectionOwner {
 public:
  // New connections are watched by `ready_set`, and wait for their turn in `queue`. Those of HTTP
  // see `site`.
  ConnectionTable(Services& server, Dispatcher& dispatcher, HttpSite& site, ConnectionQueue& queue,
                  ReadySet& ready_set);

  // Takes the socket over; `ssl` is null for a plain one.
  void Open(int socket, SslPointer ssl, Protocol protocol, std::string peer, std::string local);
  size_t size() const { return by_client_.size(); }
  // In no order; `visit` may close connections.
  template <typename Visit>
  void ForEach(Visit&& visit) {
    for (const auto& [client, connection] : by_client_) visit(*connection);
  }

  // At the turn's end: drops those that have closed. False when there were none.
  bool EraseClosed();

 private:
  void Forget(Client& client) override;
  std::unique_ptr<Conversation> Converse(Protocol protocol);

  Services& server_;
  Dispatcher& dispatcher_;
  HttpSite& site_;
  ConnectionQueue& queue_;
  ReadySet& ready_set_;
  absl::flat_hash_map<Client*, std::shared_ptr<Connection>> by_client_;
  // They stay until the turn ends, as lists of this turn may name them.
  std::vector<Client*> closed_;
};

}  // namespace tally::server
