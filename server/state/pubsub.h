// Channels, patterns and shard channels, and the clients that subscribe to them. A shard channel is
// a channel of another name space, which patterns do not match. In a cluster it is in one shard.
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

  // These return false if the client already was, or was not, subscribed, and so nothing changes.
  bool Subscribe(Client& client, std::string_view channel);
  bool Unsubscribe(Client& client, std::string_view channel);
  bool SubscribePattern(Client& client, std::string_view pattern);
  bool UnsubscribePattern(Client& client, std::string_view pattern);
  bool SubscribeShard(Client& client, std::string_view channel);
  bool UnsubscribeShard(Client& client, std::string_view channel);
  void Forget(Client& client);

  // Returns how many subscriptions received the message. A client whose command is running gets it
  // after the reply of the command, not inside it.
  size_t Publish(std::string_view channel, std::string_view message);
  // The same; a long message is not copied.
  size_t Publish(std::string_view channel, const SharedBytes& message);
  // The same for a shard channel.
  size_t PublishShard(std::string_view channel, std::string_view message);
  size_t PublishShard(std::string_view channel, const SharedBytes& message);
  // Whether nobody can receive what is published.
  bool idle() const { return channels_.empty() && patterns_.empty(); }

  using Listeners = absl::btree_map<std::string, std::vector<Client*>, std::less<>>;
  const Listeners& channels() const { return channels_; }
  const Listeners& patterns() const { return patterns_; }
  const Listeners& shard_channels() const { return shard_channels_; }

 private:
  // `words` come before the message. Returns the number of listeners.
  template <typename Message>
  size_t Send(const std::vector<Client*>& listeners, std::span<const std::string_view> words,
              const Message& message);
  template <typename Message>
  size_t SendToAll(std::string_view channel, const Message& message);
  template <typename Message>
  size_t SendToShard(std::string_view channel, const Message& message);

  using Names = absl::flat_hash_set<std::string>;
  bool Add(Listeners& listeners, Names& held, std::string_view name, Client& client);
  bool Remove(Listeners& listeners, Names& held, std::string_view name, Client& client);
  static void Drop(Listeners& listeners, std::string_view name, Client& client);
  static void DropAll(Listeners& listeners, Names& held, Client& client);

  ClientTable& clients_;
  Listeners channels_;
  Listeners patterns_;
  Listeners shard_channels_;
};

}  // namespace tally::server
