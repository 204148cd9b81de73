#include "server/net/connection_table.h"

#include <utility>

#include "server/dispatch/session.h"
#include "server/http/http_session.h"
#include "server/log/trouble_log.h"
#include "server/state/clock.h"

namespace tally::server {

ConnectionTable::ConnectionTable(Services& server, Dispatcher& dispatcher, HttpSite& site,
                                 ConnectionQueue& queue, EventPoller& poller)
    : server_(server), dispatcher_(dispatcher), site_(site), queue_(queue), poller_(poller) {}

std::unique_ptr<Conversation> ConnectionTable::MakeConversation(Protocol protocol) {
  if (protocol == Protocol::kHttp) return std::make_unique<HttpSession>(server_, site_);
  return std::make_unique<Session>(server_, dispatcher_);
}

void ConnectionTable::Open(int socket, SslPointer ssl, Protocol protocol, std::string peer,
                           std::string local) {
  auto connection = std::make_unique<Connection>(socket, std::move(ssl),
                                                 ConnectionHost{.owner = *this, .queue = queue_},
                                                 server_, MakeConversation(protocol));
  Client& client = connection->client();
  client.address = std::move(peer);
  client.local_address = std::move(local);
  if (!poller_.WatchEdges(socket, *connection)) {
    return server_.troubles.descriptors.Happens(
        "A socket cannot be watched: new clients are refused.", server_.clock.steady_ms());
  }
  by_client_.emplace(&client, std::move(connection));
}

void ConnectionTable::Forget(Client& client) { closed_.push_back(&client); }

bool ConnectionTable::EraseClosed() {
  bool erased = false;
  for (Client* client : std::exchange(closed_, {})) {
    if (client->state.place.resting()) {
      by_client_.erase(client);
      erased = true;
    } else {
      closed_.push_back(client);
    }
  }
  return erased;
}

}  // namespace tally::server
