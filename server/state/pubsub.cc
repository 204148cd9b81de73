#include "server/state/pubsub.h"

#include <array>
#include <optional>

#include "core/bytes/glob.h"

namespace tally::server {
namespace {

template <typename Message>
SharedBytes Render(std::span<const std::string_view> words, const Message& message, int protocol) {
  ByteBlocks bytes;
  ReplyBuilder reply(bytes, protocol);
  reply.Push(words.size() + 1);
  for (const std::string_view word : words) reply.Bulk(word);
  reply.Bulk(message);
  return bytes.Share();
}

}  // namespace

bool PubSub::Add(Listeners& listeners, Names& held, std::string_view name, Client& client) {
  if (!held.emplace(name).second) return false;
  listeners[std::string(name)].push_back(&client);
  clients_.LimitOutput(client);
  return true;
}

bool PubSub::Remove(Listeners& listeners, Names& held, std::string_view name, Client& client) {
  if (held.erase(std::string(name)) == 0) return false;
  Drop(listeners, name, client);
  clients_.LimitOutput(client);
  return true;
}

void PubSub::Drop(Listeners& listeners, std::string_view name, Client& client) {
  const auto it = listeners.find(name);
  std::erase(it->second, &client);
  if (it->second.empty()) listeners.erase(it);
}

void PubSub::DropAll(Listeners& listeners, Names& held, Client& client) {
  for (const std::string& name : held) Drop(listeners, name, client);
  held.clear();
}

bool PubSub::Subscribe(Client& client, std::string_view channel) {
  return Add(channels_, client.channels, channel, client);
}

bool PubSub::Unsubscribe(Client& client, std::string_view channel) {
  return Remove(channels_, client.channels, channel, client);
}

bool PubSub::SubscribePattern(Client& client, std::string_view pattern) {
  return Add(patterns_, client.patterns, pattern, client);
}

bool PubSub::UnsubscribePattern(Client& client, std::string_view pattern) {
  return Remove(patterns_, client.patterns, pattern, client);
}

bool PubSub::SubscribeShard(Client& client, std::string_view channel) {
  return Add(shard_channels_, client.shard_channels, channel, client);
}

bool PubSub::UnsubscribeShard(Client& client, std::string_view channel) {
  return Remove(shard_channels_, client.shard_channels, channel, client);
}

void PubSub::Forget(Client& client) {
  DropAll(channels_, client.channels, client);
  DropAll(patterns_, client.patterns, client);
  DropAll(shard_channels_, client.shard_channels, client);
  clients_.LimitOutput(client);
}

// The message is rendered once for each protocol, however many clients get it.
template <typename Message>
size_t PubSub::Send(const std::vector<Client*>& listeners, std::span<const std::string_view> words,
                    const Message& message) {
  std::optional<SharedBytes> rendered[2];
  for (Client* client : listeners) {
    const int protocol = client->reply.protocol();
    std::optional<SharedBytes>& bytes = rendered[protocol - 2];
    if (!bytes) bytes = Render(words, message, protocol);
    clients_.Send(*client, *bytes);
  }
  return listeners.size();
}

template <typename Message>
size_t PubSub::SendToAll(std::string_view channel, const Message& message) {
  size_t receivers = 0;
  if (const auto it = channels_.find(channel); it != channels_.end()) {
    receivers += Send(it->second, std::array{std::string_view("message"), channel}, message);
  }
  for (const auto& [pattern, listeners] : patterns_) {
    if (!GlobMatch(pattern, channel)) continue;
    const std::array words{std::string_view("pmessage"), std::string_view(pattern), channel};
    receivers += Send(listeners, words, message);
  }
  return receivers;
}

template <typename Message>
size_t PubSub::SendToShard(std::string_view channel, const Message& message) {
  const auto it = shard_channels_.find(channel);
  if (it == shard_channels_.end()) return 0;
  return Send(it->second, std::array{std::string_view("smessage"), channel}, message);
}

size_t PubSub::Publish(std::string_view channel, std::string_view message) {
  return SendToAll(channel, message);
}

size_t PubSub::Publish(std::string_view channel, const SharedBytes& message) {
  return SendToAll(channel, message);
}

size_t PubSub::PublishShard(std::string_view channel, std::string_view message) {
  return SendToShard(channel, message);
}

size_t PubSub::PublishShard(std::string_view channel, const SharedBytes& message) {
  return SendToShard(channel, message);
}

}  // namespace tally::server
