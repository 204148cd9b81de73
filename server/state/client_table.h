// The clients that are connected, and those that the turn's end must flush.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <vector>

#include "server/config/config.h"
#include "server/state/client.h"

namespace tally::server {

// The limits of client-output-buffer-limit for the class of this client.
inline const OutputBufferLimit& OutputLimitOf(const Config& config, const Client& client) {
  const bool listens = client.subscribed() || client.takes_events;
  const ClientClass kind = client.is_replica ? ClientClass::kReplica
                           : listens         ? ClientClass::kPubSub
                                             : ClientClass::kNormal;
  return config.client_output_buffer_limit[static_cast<size_t>(kind)];
}

class ClientTable {
 public:
  explicit ClientTable(const Config& config) : config_(config) {}

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

  // Marks the client, so that its output is sent at the end of the turn. Call after appending to
  // its output.
  void MarkPending(Client& client) {
    if (client.output_pending || client.transport == nullptr) return;
    client.output_pending = true;
    pending_.push_back(&client);
  }
  // Sends a message that is not a reply. A client whose command is running gets it after the reply.
  void Send(Client& client, const SharedBytes& message) {
    client.message_output().Append(message);
    MarkPending(client);
  }
  // Makes the client's output keep the hard limit of client-output-buffer-limit. Must be called
  // when the limit or the class of the client has changed.
  void LimitOutput(Client& client) const;
  // Ends a connection. If `victim` is the caller, it still gets its reply. Any other connection
  // closes at once, and loses the output that has not been sent.
  void Kill(Client& victim, const Client& caller);
  bool has_pending() const { return !pending_.empty(); }
  // Makes `clients`, whose memory is used again, those that were marked since the last call.
  void TakePending(std::vector<Client*>& clients);

  // The clients that run MONITOR.
  const std::vector<Client*>& monitors() const { return monitors_; }
  void SetMonitor(Client& client, bool monitor);

 private:
  const Config& config_;
  uint64_t last_id_ = 0;
  absl::btree_map<uint64_t, Client*> by_id_;
  std::vector<Client*> pending_;
  std::vector<Client*> monitors_;
};

}  // namespace tally::server
