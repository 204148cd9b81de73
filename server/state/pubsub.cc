#include "server/state/pubsub.h"

#include "core/bytes/glob.h"

namespace tally::server {

bool PubSub::Subscribe(Client& client, std::string_view channel) {
  if (!client.channels.emplace(channel).second) return false;
  channels_[std::string(channel)].push_back(&client);
  return true;
}

bool PubSub::SubscribePattern(Client& client, std::string_view pattern) {
  if (!client.patterns.emplace(pattern).second) return false;
  patterns_[std::string(pattern)].push_back(&client);
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
  return true;
}

bool PubSub::UnsubscribePattern(Client& client, std::string_view pattern) {
  if (client.patterns.erase(std::string(pattern)) == 0) return false;
  Drop(patterns_, pattern, client);
  return true;
}

void PubSub::Forget(Client& client) {
  for (const std::string& channel : client.channels) Drop(channels_, channel, client);
  for (const std::string& pattern : client.patterns) Drop(patterns_, pattern, client);
  client.channels.clear();
  client.patterns.clear();
}

ReplyBuilder PubSub::BeginMessage(Client& client, size_t parts) {
  ReplyBuilder message(client.running ? client.pushes : client.output, client.reply.protocol());
  message.Push(parts);
  clients_.MarkPending(client);
  return message;
}

size_t PubSub::Publish(std::string_view channel, std::string_view message) {
  size_t receivers = 0;
  if (const auto it = channels_.find(channel); it != channels_.end()) {
    for (Client* client : it->second) {
      ReplyBuilder out = BeginMessage(*client, 3);
      out.Bulk("message");
      out.Bulk(channel);
      out.Bulk(message);
      ++receivers;
    }
  }
  for (const auto& [pattern, listeners] : patterns_) {
    if (!GlobMatch(pattern, channel)) continue;
    for (Client* client : listeners) {
      ReplyBuilder out = BeginMessage(*client, 4);
      out.Bulk("pmessage");
      out.Bulk(pattern);
      out.Bulk(channel);
      out.Bulk(message);
      ++receivers;
    }
  }
  return receivers;
}

}  // namespace tally::server
