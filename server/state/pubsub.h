// Channels and patterns, and who listens.
#pragma once

#include <absl/container/btree_map.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/state/client.h"
#include "server/state/client_table.h"

namespace tally::server {

class PubSub {
 public:
  explicit PubSub(ClientTable& clients) : clients_(clients) {}

  // False when the client was subscribed, or was not, already.
  bool Subscribe(Client& client, std::string_view channel);
  bool Unsubscribe(Client& client, std::string_view channel);
  bool SubscribePattern(Client& client, std::string_view pattern);
  bool UnsubscribePattern(Client& client, std::string_view pattern);
  void Forget(Client& client);

  // How many received it. A client whose command is running gets it after the command's reply, not
  // inside it.
  size_t Publish(std::string_view channel, std::string_view message);
  // Whether anything could be received at all.
  bool idle() const { return channels_.empty() && patterns_.empty(); }

  using Listeners = absl::btree_map<std::string, std::vector<Client*>, std::less<>>;
  const Listeners& channels() const { return channels_; }
  const Listeners& patterns() const { return patterns_; }

 private:
  // Returns how many they are.
  size_t Send(const std::vector<Client*>& listeners, std::span<const std::string_view> parts);
  static void Drop(Listeners& listeners, std::string_view name, Client& client);

  ClientTable& clients_;
  Listeners channels_;
  Listeners patterns_;
};

}  // namespace tally::server
