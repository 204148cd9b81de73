#include "server/loop/replica_waits.h"

#include <vector>

#include "server/interfaces/replication.h"
#include "server/state/blocked_clients.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

constexpr int64_t kAskEveryMs = 1000;

}  // namespace

void ReplicaWaits::Serve() {
  std::vector<Client*> served;
  for (const auto& [number, client] : server_.blocked.wait_for_replicas()) {
    const BlockedCommand& command = *client->blocked;
    if (server_.replicas->Acknowledged(command.offset) >= command.replicas) {
      served.push_back(client);
    }
  }
  for (Client* const client : served) dispatcher_.TimeOut(*client);
}

void ReplicaWaits::Tick() {
  const int64_t now_ms = server_.clock.steady_ms();
  if (server_.blocked.wait_for_replicas().empty() || now_ms - asked_ms_ < kAskEveryMs) return;
  asked_ms_ = now_ms;
  server_.replicas->AskForAcknowledgements();
}

}  // namespace tally::server
