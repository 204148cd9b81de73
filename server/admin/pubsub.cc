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
#include "server/admin/parts.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"

namespace tally::server {
namespace {

// Sends the message that confirms one subscription. `name` is a channel or a pattern; null if there
// was none to leave. It is a message like those of the channel, so CLIENT REPLY OFF does not
// suppress it.
void ReplySubscription(ServerContext& context, std::string_view kind,
                       const std::string_view* name) {
  Client& client = context.client;
  const bool replies = client.reply_mode == ReplyMode::kOn;
  ReplyBuilder message(replies ? client.output : client.pushes, context.reply.protocol());
  message.Push(3);
  message.Bulk(kind);
  if (name != nullptr) {
    message.Bulk(*name);
  } else {
    message.Null();
  }
  message.Integer(static_cast<int64_t>(client.channels.size() + client.patterns.size()));
}

using Change = bool (PubSub::*)(Client& client, std::string_view name);

void ChangeEach(ServerContext& context, const PubSubParts& server, Args names,
                std::string_view kind, Change change) {
  for (const std::string_view name : names) {
    (server.pubsub.*change)(context.client, name);
    ReplySubscription(context, kind, &name);
  }
}

// Unsubscribes from the names of the call. A call without names leaves everything in `held`, in the
// order of the names.
void Leave(ServerContext& context, const PubSubParts& server,
           const absl::flat_hash_set<std::string>& held, std::string_view kind, Change change) {
  if (context.args.size() > 1)
    return ChangeEach(context, server, context.args.subspan(1), kind, change);
  if (held.empty()) return ReplySubscription(context, kind, nullptr);
  std::vector<std::string> all(held.begin(), held.end());
  std::sort(all.begin(), all.end());
  const std::vector<std::string_view> names(all.begin(), all.end());
  ChangeEach(context, server, names, kind, change);
}

void Subscribe(ServerContext& context, const PubSubParts& server) {
  ChangeEach(context, server, context.args.subspan(1), "subscribe", &PubSub::Subscribe);
}

void PSubscribe(ServerContext& context, const PubSubParts& server) {
  ChangeEach(context, server, context.args.subspan(1), "psubscribe", &PubSub::SubscribePattern);
}

void Unsubscribe(ServerContext& context, const PubSubParts& server) {
  Leave(context, server, context.client.channels, "unsubscribe", &PubSub::Unsubscribe);
}

void PUnsubscribe(ServerContext& context, const PubSubParts& server) {
  Leave(context, server, context.client.patterns, "punsubscribe", &PubSub::UnsubscribePattern);
}

void Publish(ServerContext& context, const PubSubParts& server) {
  const std::string_view channel = context.args[1];
  size_t receivers = 0;
  if (Text text = context.TakeFromRequest(context.args[2]); !text.empty()) {
    const SharedBytes message(std::move(text));
    receivers = server.pubsub.Publish(channel, message);
    context.KeepRequest(message);
  } else {
    receivers = server.pubsub.Publish(channel, context.args[2]);
  }
  context.reply.Integer(static_cast<int64_t>(receivers));
}

void Channels(ServerContext& context, const PubSubParts& server) {
  if (context.args.size() > 3) {
    return context.reply.Error("ERR unknown subcommand or wrong number of arguments for '" +
                               std::string(context.args[1]) + "'. Try PUBSUB HELP.");
  }
  const std::string_view pattern = context.args.size() == 3 ? context.args[2] : "*";
  const size_t mark = context.reply.BeginArray();
  size_t matches = 0;
  for (const auto& [channel, listeners] : server.pubsub.channels()) {
    if (!GlobMatch(pattern, channel)) continue;
    context.reply.Bulk(channel);
    ++matches;
  }
  context.reply.EndArray(mark, matches);
}

void NumSub(ServerContext& context, const PubSubParts& server) {
  const Args names = context.args.subspan(2);
  const PubSub::Listeners& channels = server.pubsub.channels();
  context.reply.Array(2 * names.size());
  for (const std::string_view name : names) {
    const auto it = channels.find(name);
    context.reply.Bulk(name);
    context.reply.Integer(it == channels.end() ? 0 : static_cast<int64_t>(it->second.size()));
  }
}

void NumPat(ServerContext& context, const PubSubParts& server) {
  context.reply.Integer(static_cast<int64_t>(server.pubsub.patterns().size()));
}

void Help(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "CHANNELS [<pattern>]",
      "    Return the currently active channels matching a <pattern> (default: '*').",
      "NUMPAT",
      "    Return number of subscriptions to patterns.",
      "NUMSUB [<channel> ...]",
      "    Return the number of subscribers for the specified channels, excluding",
      "    pattern subscriptions(default: no channels).",
  };
  ReplyHelp(context, kLines);
}

constexpr KeyRange kNoKeys;
constexpr uint32_t kAnyTime = kLoading | kStale;
constexpr uint32_t kLook = kPubSub | kAnyTime;
constexpr uint32_t kListen = kPubSub | kConnection | kNoScript | kAnyTime | kWhileSubscribed;

constexpr Command kPubSubCommands[] = {
    {"channels", Serve<Channels>, -2, kLook, kNoKeys, "Returns the active channels.", "2.8.0",
     "[pattern:pattern]"},
    {"help", Help, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.", "6.2.0"},
    {"numpat", Serve<NumPat>, 2, kLook, kNoKeys,
     "Returns the number of patterns that are listened to.", "2.8.0"},
    {"numsub", Serve<NumSub>, -2, kLook, kNoKeys, "Returns the number of subscribers of channels.",
     "2.8.0", "[channel...]"},
};

constexpr Command kCommands[] = {
    Naming(ChannelWords::kAllPatterns,
           Command{"psubscribe", Serve<PSubscribe>, -2, kListen, kNoKeys,
                   "Listens for messages published to channels that match patterns.", "2.0.0",
                   "pattern(pattern:pattern)..."}),
    Naming(ChannelWords::kFirst,
           Command{"publish", Serve<Publish>, 3, kLook | kFast | kMayReplicate, kNoKeys,
                   "Posts a message to a channel.", "2.0.0", "channel message"}),
    {"pubsub", nullptr, -2, 0, kNoKeys, "A container for commands that look into channels.",
     "2.8.0", "", kPubSubCommands},
    {"punsubscribe", Serve<PUnsubscribe>, -1, kListen, kNoKeys,
     "Stops listening to messages published to channels that match patterns.", "2.0.0",
     "[pattern:pattern...]"},
    Naming(ChannelWords::kAll,
           Command{"subscribe", Serve<Subscribe>, -2, kListen, kNoKeys,
                   "Listens for messages published to channels.", "2.0.0", "channel..."}),
    {"unsubscribe", Serve<Unsubscribe>, -1, kListen, kNoKeys,
     "Stops listening to messages posted to channels.", "2.0.0", "[channel...]"},
};

}  // namespace

std::span<const Command> PubSubCommands() { return kCommands; }

}  // namespace tally::server
