// The clients that are connected, and those that the turn's end must flush.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <vector>

#include "server/state/client.h"

namespace tally::server {

class ClientTable {
 public:
  // Gives the client its id.
  void Add(Client& client);
  void Remove(Client& client);

  Client* Find(uint64_t id) const;
  size_t size() const { return by_id_.size(); }
  // In the order of their ids; `visit` must not add or remove clients.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [id, client] : by_id_) visit(*client);
  }

  // Has the client's output sent at the turn's end. Call after appending to its output.
  void MarkPending(Client& client) {
    if (client.output_pending || client.transport == nullptr) return;
    client.output_pending = true;
    pending_.push_back(&client);
  }
  // Ends a connection. The caller gets its reply first; others are cut off with what they have not
  // read yet.
  void Kill(Client& victim, const Client& caller);
  // The clients marked since the last call.
  std::vector<Client*> TakePending();

  // MONITOR's readers.
  const std::vector<Client*>& monitors() const { return monitors_; }
  void SetMonitor(Client& client, bool monitor);

 private:
  uint64_t last_id_ = 0;
  absl::btree_map<uint64_t, Client*> by_id_;
  std::vector<Client*> pending_;
  std::vector<Client*> monitors_;
};

}  // namespace tally::server
