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

bool PubSub::Subscribe(Client& client, std::string_view channel) {
  if (!client.channels.emplace(channel).second) return false;
  channels_[std::string(channel)].push_back(&client);
  clients_.LimitOutput(client);
  return true;
}

bool PubSub::SubscribePattern(Client& client, std::string_view pattern) {
  if (!client.patterns.emplace(pattern).second) return false;
  patterns_[std::string(pattern)].push_back(&client);
  clients_.LimitOutput(client);
  return true;
}

void PubSub::Drop(Listeners& listeners, std::string_view name, Client& client) {
  const auto it = listeners.find(name);
  std::erase(it->second, &client);
  if (it->second.empty()) listeners.erase(it);
}

bool PubSub::Unsubscribe(Client& client, std::string_view channel) {
  if (client.channels.erase(std::string(channel)) == 0) return false;
  Drop(channels_, channel, client);
  clients_.LimitOutput(client);
  return true;
}

bool PubSub::UnsubscribePattern(Client& client, std::string_view pattern) {
  if (client.patterns.erase(std::string(pattern)) == 0) return false;
  Drop(patterns_, pattern, client);
  clients_.LimitOutput(client);
  return true;
}

void PubSub::Forget(Client& client) {
  for (const std::string& channel : client.channels) Drop(channels_, channel, client);
  for (const std::string& pattern : client.patterns) Drop(patterns_, pattern, client);
  client.channels.clear();
  client.patterns.clear();
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

size_t PubSub::Publish(std::string_view channel, std::string_view message) {
  return SendToAll(channel, message);
}

size_t PubSub::Publish(std::string_view channel, const SharedBytes& message) {
  return SendToAll(channel, message);
}

}  // namespace tally::server
