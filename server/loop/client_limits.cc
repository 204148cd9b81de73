#include "server/loop/client_limits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "server/config/config.h"
#include "server/log/log.h"
#include "server/state/client_text.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

constexpr size_t kLookedAtAtOnce = 500;
constexpr size_t kMostParts = 10;  // so each connection is looked at twice a second

}  // namespace

void ClientLimits::Apply() {
  EnforceLimits();
  Evict();
}

// Of many connections each call looks at a part, because to look at all would stop everybody for
// milliseconds.
void ClientLimits::EnforceLimits() {
  const size_t parts = std::min(1 + connections_.size() / kLookedAtAtOnce, kMostParts);
  next_part_ = (next_part_ + 1) % parts;
  connections_.ForEachIn(next_part_, parts, [](Connection& connection) {
    connection.LimitTime();
    connection.LimitOutput();
  });
}

// For maxmemory-clients: closes the clients that hold the most memory first.
void ClientLimits::Evict() {
  const int64_t setting = server_.config.maxmemory_clients;
  const int64_t limit = setting < 0 ? server_.config.maxmemory / 100 * -setting : setting;
  if (limit == 0) return;
  int64_t sum = 0;
  std::vector<std::pair<int64_t, Connection*>> by_memory;
  connections_.ForEach([&](Connection& connection) {
    // One that has closed in this turn stays in the table until the turn ends.
    if (connection.closed() || connection.client().is_replica) return;
    const auto bytes = static_cast<int64_t>(ClientMemory(connection.client()));
    sum += bytes;
    if (!connection.client().no_evict) by_memory.emplace_back(bytes, &connection);
  });
  if (sum <= limit) return;
  std::sort(by_memory.rbegin(), by_memory.rend());
  for (const auto& [bytes, connection] : by_memory) {
    if (sum <= limit) break;
    sum -= bytes;
    ++server_.stats.evicted_clients;
    server_.log.Notice("Evicting a client: ", connection->client().address, ", ", bytes, " bytes");
    connection->Close();
  }
}

}  // namespace tally::server
