#include "server/state/client_table.h"

#include <algorithm>
#include <utility>

namespace tally::server {

void ClientTable::Add(Client& client) {
  client.id = ++last_id_;
  by_id_.emplace(client.id, &client);
  LimitOutput(client);
}

void ClientTable::LimitOutput(Client& client) const {
  const int64_t hard = OutputLimitOf(config_, client).hard;
  const size_t most = hard == 0 ? SIZE_MAX : static_cast<size_t>(hard);
  client.output.set_most(most);
  client.pushes.set_most(most);
}

void ClientTable::Remove(Client& client) {
  by_id_.erase(client.id);
  if (client.output_pending) std::erase(pending_, &client);
  std::erase(monitors_, &client);
}

Client* ClientTable::Find(uint64_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

void ClientTable::Kill(Client& victim, const Client& caller) {
  victim.state.end.Finish();
  if (&victim != &caller && victim.transport != nullptr) victim.transport->Close();
  MarkPending(victim);
}

void ClientTable::TakePending(std::vector<Client*>& clients) {
  for (Client* client : pending_) client->output_pending = false;
  clients.clear();
  clients.swap(pending_);
}

void ClientTable::SetMonitor(Client& client, bool monitor) {
  if (client.monitor == monitor) return;
  client.monitor = monitor;
  if (monitor) {
    monitors_.push_back(&client);
  } else {
    std::erase(monitors_, &client);
  }
}

}  // namespace tally::server
