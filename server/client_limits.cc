#include "server/client_limits.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "server/config/config.h"
#include "server/log/log.h"
#include "server/state/client_text.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

void ClientLimits::Apply() {
  CloseIdle();
  Evict();
}

void ClientLimits::CloseIdle() {
  const int64_t limit_ms = server_.config.timeout * int64_t{1000};
  const int64_t now = server_.clock.now_ms();
  connections_.ForEach([&](Connection& connection) {
    const Client& client = connection.client();
    const bool idle = limit_ms > 0 && now - client.last_active_ms > limit_ms &&
                      !client.subscribed() && !client.monitor;
    if (idle) connection.Close();
    connection.LimitOutput();
  });
}

// maxmemory-clients: those that hold most go first.
void ClientLimits::Evict() {
  const int64_t setting = server_.config.maxmemory_clients;
  const int64_t limit = setting < 0 ? server_.config.maxmemory / 100 * -setting : setting;
  if (limit == 0) return;
  int64_t sum = 0;
  std::vector<std::pair<int64_t, Connection*>> by_memory;
  connections_.ForEach([&](Connection& connection) {
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
