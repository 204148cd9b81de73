#include "server/loop/migrator.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "server/config/config.h"
#include "server/log/log.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

constexpr std::chrono::milliseconds kTick(10);

}  // namespace

void Migrator::Begin(Client& client, const MigrationTarget& target, MigrationBatch batch) {
  std::unique_ptr<TlsContext> tls;
  bool may_begin = true;
  if (server_.config.tls_replication) {
    auto made = TlsContext::CreateForPeers(server_.config);
    may_begin = made.ok();
    if (may_begin) tls = std::move(*made);
    if (!may_begin) server_.log.Warning("MIGRATE: ", std::string(made.status().message()));
  }
  auto migration =
      std::make_unique<Migration>(poller_, target, std::move(batch), server_.clock.steady_ms());
  if (may_begin) migration->Open(std::move(tls));
  migrations_[client.id] = {std::move(migration), client.blocked->number};
}

void Migrator::Continue(Client& client, MigrationBatch batch) {
  Waited& waited = migrations_.at(client.id);
  waited.migration->Continue(std::move(batch), server_.clock.steady_ms());
  waited.command = client.blocked->number;
}

std::unique_ptr<MigrationResult> Migrator::Take(const Client& client) {
  const auto found = migrations_.find(client.id);
  return found == migrations_.end() ? nullptr : found->second.migration->Take();
}

Client* Migrator::WaitingClient(uint64_t id) const {
  Client* const client = server_.clients.Find(id);
  if (client == nullptr || client->blocked == nullptr || client->finished()) return nullptr;
  return client->blocked->number == migrations_.at(id).command ? client : nullptr;
}

void Migrator::Serve() {
  if (migrations_.empty()) [[likely]]
    return;
  std::vector<uint64_t> ids;
  for (const auto& [id, migration] : migrations_) ids.push_back(id);
  for (const uint64_t id : ids) {
    Client* client = WaitingClient(id);
    if (client != nullptr && !migrations_.at(id).migration->Continue(server_.clock.steady_ms()))
      continue;
    if (client != nullptr) {
      dispatcher_.RunAgain(*client);
      client = WaitingClient(id);
    }
    if (client == nullptr) migrations_.erase(id);
  }
  if (!migrations_.empty()) timer_.ExpireAfter(kTick);
}

}  // namespace tally::server
