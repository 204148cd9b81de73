// SUBSCRIBE, PUBLISH, PUBSUB …: channels and their subscribers.
#include "server/state/pubsub.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/glob.h"
#include "core/bytes/text.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"
#include "server/interfaces/replication.h"

namespace tally::server {
namespace {

// One of the kinds of names that a client subscribes to.
struct SubscriptionKind {
  using Change = bool (PubSub::*)(Client& client, std::string_view name);

  std::string_view joined;  // the first word of the messages that confirm
  std::string_view left;
  Change join;
  Change leave;
  absl::flat_hash_set<std::string> Client::* held;
};

constexpr SubscriptionKind kChannels{"subscribe", "unsubscribe", &PubSub::Subscribe,
                                     &PubSub::Unsubscribe, &Client::channels};
constexpr SubscriptionKind kPatterns{"psubscribe", "punsubscribe", &PubSub::SubscribePattern,
                                     &PubSub::UnsubscribePattern, &Client::patterns};
constexpr SubscriptionKind kShardChannels{"ssubscribe", "sunsubscribe", &PubSub::SubscribeShard,
                                          &PubSub::UnsubscribeShard, &Client::shard_channels};

// How many subscriptions the client has, as a message about one of this kind says it: shard
// channels are counted by themselves.
size_t CountedWith(const Client& client, const SubscriptionKind& kind) {
  if (kind.held == &Client::shard_channels) return client.shard_channels.size();
  return client.channels.size() + client.patterns.size();
}

// Sends the message that confirms one subscription. `name` is null if there was none to leave. It
// is a message like those of the channel, so CLIENT REPLY OFF does not suppress it.
void ReplySubscription(ServerContext& context, const SubscriptionKind& kind, std::string_view word,
                       const std::string_view* name) {
  Client& client = context.client;
  const bool replies = client.reply_mode == ReplyMode::kOn;
  ReplyBuilder message(replies ? client.output : client.pushes, context.reply.protocol());
  message.Push(3);
  message.Bulk(word);
  if (name != nullptr) {
    message.Bulk(*name);
  } else {
    message.Null();
  }
  message.Integer(static_cast<int64_t>(CountedWith(client, kind)));
}

void JoinEach(ServerContext& context, Services& server, const SubscriptionKind& kind) {
  for (const std::string_view name : context.args.subspan(1)) {
    (server.pubsub.*kind.join)(context.client, name);
    ReplySubscription(context, kind, kind.joined, &name);
  }
}

void LeaveEach(ServerContext& context, Services& server, const SubscriptionKind& kind, Args names) {
  for (const std::string_view name : names) {
    (server.pubsub.*kind.leave)(context.client, name);
    ReplySubscription(context, kind, kind.left, &name);
  }
}

// Unsubscribes from the names of the call. A call without names leaves everything of the kind, in
// the order of the names.
void Leave(ServerContext& context, Services& server, const SubscriptionKind& kind) {
  if (context.args.size() > 1) return LeaveEach(context, server, kind, context.args.subspan(1));
  const auto& held = context.client.*kind.held;
  if (held.empty()) return ReplySubscription(context, kind, kind.left, nullptr);
  std::vector<std::string> all(held.begin(), held.end());
  std::sort(all.begin(), all.end());
  LeaveEach(context, server, kind, std::vector<std::string_view>(all.begin(), all.end()));
}

void Subscribe(ServerContext& context, Services& server) { JoinEach(context, server, kChannels); }

void PSubscribe(ServerContext& context, Services& server) { JoinEach(context, server, kPatterns); }

void SSubscribe(ServerContext& context, Services& server) {
  JoinEach(context, server, kShardChannels);
}

void Unsubscribe(ServerContext& context, Services& server) { Leave(context, server, kChannels); }

void PUnsubscribe(ServerContext& context, Services& server) { Leave(context, server, kPatterns); }

void SUnsubscribe(ServerContext& context, Services& server) {
  Leave(context, server, kShardChannels);
}

// Publishes with `publish(message)`, which returns how many clients got the message.
template <typename Publish>
void PublishMessage(ServerContext& context, Publish&& publish) {
  size_t receivers = 0;
  if (Text text = context.TakeFromRequest(context.args[2]); !text.empty()) {
    const SharedBytes message(std::move(text));
    receivers = publish(message);
    context.KeepRequest(message);
  } else {
    receivers = publish(context.args[2]);
  }
  context.reply.Integer(static_cast<int64_t>(receivers));
}

// Messages go down the chain of replicas; what the clients of a replica publish stays with it.
void PassToReplicas(ServerContext& context, Services& server) {
  if (context.replaying || !server.primary->is_replica()) server.replicas->Publish(context.args);
}

void Publish(ServerContext& context, Services& server) {
  PassToReplicas(context, server);
  PublishMessage(context, [&](const auto& message) {
    return server.pubsub.Publish(context.args[1], message);
  });
}

void SPublish(ServerContext& context, Services& server) {
  PassToReplicas(context, server);
  PublishMessage(context, [&](const auto& message) {
    return server.pubsub.PublishShard(context.args[1], message);
  });
}

void ReplyNames(ServerContext& context, const PubSub::Listeners& channels) {
  if (context.args.size() > 3) {
    return ReplyUnknownSubcommand(context);
  }
  const std::string_view pattern = context.args.size() == 3 ? context.args[2] : "*";
  const size_t mark = context.reply.BeginArray();
  size_t matches = 0;
  for (const auto& [channel, listeners] : channels) {
    if (!GlobMatch(pattern, channel)) continue;
    context.reply.Bulk(channel);
    ++matches;
  }
  context.reply.EndArray(mark, matches);
}

void ReplyCounts(ServerContext& context, const PubSub::Listeners& channels) {
  const Args names = context.args.subspan(2);
  context.reply.Array(2 * names.size());
  for (const std::string_view name : names) {
    const auto it = channels.find(name);
    context.reply.Bulk(name);
    context.reply.Integer(it == channels.end() ? 0 : static_cast<int64_t>(it->second.size()));
  }
}

void Channels(ServerContext& context, Services& server) {
  ReplyNames(context, server.pubsub.channels());
}

void ShardChannels(ServerContext& context, Services& server) {
  ReplyNames(context, server.pubsub.shard_channels());
}

void NumSub(ServerContext& context, Services& server) {
  ReplyCounts(context, server.pubsub.channels());
}

void ShardNumSub(ServerContext& context, Services& server) {
  ReplyCounts(context, server.pubsub.shard_channels());
}

void NumPat(ServerContext& context, Services& server) {
  context.reply.Integer(static_cast<int64_t>(server.pubsub.patterns().size()));
}

void PubSubHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "CHANNELS [<pattern>]",
      "    Return the currently active channels matching a <pattern> (default: '*').",
      "NUMPAT",
      "    Return number of subscriptions to patterns.",
      "NUMSUB [<channel> ...]",
      "    Return the number of subscribers for the specified channels, excluding",
      "    pattern subscriptions(default: no channels).",
      "SHARDCHANNELS [<pattern>]",
      "    Return the currently active shard level channels matching a <pattern> (default: '*').",
      "SHARDNUMSUB [<shardchannel> ...]",
      "    Return the number of subscribers for the specified shard level channel(s)",
  };
  ReplyHelp(context, kLines);
}

// Where a cluster finds the slot of a shard channel.
constexpr KeyRange kOneName = OneKey(kNotKey);
constexpr KeyRange kNames = AllKeys(kNotKey);
constexpr uint32_t kLook = kPubSub | kAnyTime;
constexpr uint32_t kListen = kPubSub | kConnection | kNoScript | kAnyTime | kWhileSubscribed;

constexpr Command kPubSubSubcommands[] = {
    {"channels", Serve<Channels>, -2, kLook, kNoKeys, "Returns the active channels.", "2.8.0",
     "[pattern:pattern]"},
    {"help", PubSubHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "6.2.0"},
    {"numpat", Serve<NumPat>, 2, kLook, kNoKeys,
     "Returns the number of patterns that are listened to.", "2.8.0"},
    {"numsub", Serve<NumSub>, -2, kLook, kNoKeys, "Returns the number of subscribers of channels.",
     "2.8.0", "[channel...]"},
    {"shardchannels", Serve<ShardChannels>, -2, kLook, kNoKeys,
     "Returns the active shard channels.", "7.0.0", "[pattern:pattern]"},
    {"shardnumsub", Serve<ShardNumSub>, -2, kLook, kNoKeys,
     "Returns the number of subscribers of shard channels.", "7.0.0", "[shardchannel...]"},
};

constexpr Command kPubSubCommands[] = {
    Naming(ChannelWords::kAllPatterns,
           Command{"psubscribe", Serve<PSubscribe>, -2, kListen, kNoKeys,
                   "Listens for messages published to channels that match patterns.", "2.0.0",
                   "pattern(pattern:pattern)..."}),
    Naming(ChannelWords::kFirst,
           Command{"publish", Serve<Publish>, 3, kLook | kFast | kMayReplicate, kNoKeys,
                   "Posts a message to a channel.", "2.0.0", "channel message"}),
    {"pubsub", nullptr, -2, 0, kNoKeys, "A container for commands that look into channels.",
     "2.8.0", "", kPubSubSubcommands},
    {"punsubscribe", Serve<PUnsubscribe>, -1, kListen, kNoKeys,
     "Stops listening to messages published to channels that match patterns.", "2.0.0",
     "[pattern:pattern...]"},
    Naming(ChannelWords::kFirst,
           Command{"spublish", Serve<SPublish>, 3, kLook | kFast | kMayReplicate, kOneName,
                   "Posts a message to a shard channel.", "7.0.0", "shardchannel message"}),
    Naming(ChannelWords::kAll, Command{"ssubscribe", Serve<SSubscribe>, -2, kListen | kNoExec,
                                       kNames, "Listens for messages published to shard channels.",
                                       "7.0.0", "shardchannel..."}),
    Naming(ChannelWords::kAll,
           Command{"subscribe", Serve<Subscribe>, -2, kListen, kNoKeys,
                   "Listens for messages published to channels.", "2.0.0", "channel..."}),
    {"sunsubscribe", Serve<SUnsubscribe>, -1, kListen, kNames,
     "Stops listening to messages posted to shard channels.", "7.0.0", "[shardchannel...]"},
    {"unsubscribe", Serve<Unsubscribe>, -1, kListen, kNoKeys,
     "Stops listening to messages posted to channels.", "2.0.0", "[channel...]"},
};

}  // namespace

std::span<const Command> PubSubCommands() { return kPubSubCommands; }

}  // namespace tally::server
