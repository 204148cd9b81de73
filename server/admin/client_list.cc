#include "server/admin/client_list.h"

#include <optional>
#include <string>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "server/acl/acl_users.h"
#include "server/state/client_table.h"
#include "server/state/client_text.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

// The classes that CLIENT LIST and KILL take. There are no replicas and no masters here, but tools
// ask for them.
enum class ClientType : uint8_t { kNormal, kPubSub, kReplica, kMaster };

// Returns nullopt, after an error reply, if the word is not a class.
std::optional<ClientType> ClientTypeArg(ServerContext& context, size_t index) {
  const std::string_view word = context.args[index];
  if (IsWord(word, "normal")) return ClientType::kNormal;
  if (IsWord(word, "pubsub")) return ClientType::kPubSub;
  if (IsWord(word, "replica") || IsWord(word, "slave")) return ClientType::kReplica;
  if (IsWord(word, "master")) return ClientType::kMaster;
  context.reply.Error(StrCat("ERR Unknown client type '", word, "'"));
  return std::nullopt;
}

bool HasType(const Client& client, ClientType type) {
  return type == (client.subscribed() ? ClientType::kPubSub : ClientType::kNormal);
}

void ListByIds(ServerContext& context, Services& server) {
  std::string text;
  for (const std::string_view word : context.args.subspan(3)) {
    const auto id = ParseInt64(word);
    if (!id) return context.reply.Error("ERR Invalid client ID");
    const Client* client = server.clients.Find(static_cast<uint64_t>(*id));
    if (client != nullptr) AppendClientLine(text, *client, server.clock.elapsed_ms());
  }
  context.reply.Verbatim("txt", text);
}

struct KillFilter {
  std::optional<uint64_t> id;
  std::optional<ClientType> type;
  std::optional<std::string_view> address;
  std::optional<std::string_view> local_address;
  std::optional<std::string_view> user;
  bool skip_self = true;

  bool Matches(const Client& client, const Client& self) const {
    return !(id && client.id != *id) && !(type && !HasType(client, *type)) &&
           !(address && client.address != *address) &&
           !(local_address && client.local_address != *local_address) &&
           !(user && client.user != *user) && !(skip_self && &client == &self);
  }
};

// Reads the option at `index` and its value. Returns false after an error reply.
bool ParseKillOption(ServerContext& context, Services& server, size_t index, KillFilter& filter) {
  const std::string_view option = context.args[index];
  const std::string_view value = context.args[index + 1];
  if (IsWord(option, "id")) {
    const auto id =
        context.Int64ArgIn(index + 1, 1, INT64_MAX, "ERR client-id should be greater than 0");
    if (id) filter.id = static_cast<uint64_t>(*id);
    return id.has_value();
  }
  if (IsWord(option, "type")) {
    filter.type = ClientTypeArg(context, index + 1);
    return filter.type.has_value();
  }
  if (IsWord(option, "user")) {
    filter.user = value;
    if (server.users.Find(value) != nullptr) return true;
    context.reply.Error(StrCat("ERR No such user '", value, "'"));
    return false;
  }
  if (IsWord(option, "addr")) {
    filter.address = value;
  } else if (IsWord(option, "laddr")) {
    filter.local_address = value;
  } else if (IsWord(option, "skipme") && (IsWord(value, "yes") || IsWord(value, "no"))) {
    filter.skip_self = IsWord(value, "yes");
  } else {
    context.reply.Error(kSyntaxError);
    return false;
  }
  return true;
}

size_t KillMatching(ServerContext& context, Services& server, const KillFilter& filter) {
  size_t killed = 0;
  server.clients.ForEach([&](Client& client) {
    if (client.finished() || !filter.Matches(client, context.client)) return;
    server.clients.Kill(client, context.client);
    ++killed;
  });
  return killed;
}

}  // namespace

void ClientList(ServerContext& context, Services& server) {
  const Args args = context.args;
  std::optional<ClientType> type;
  if (args.size() == 4 && IsWord(args[2], "type")) {
    type = ClientTypeArg(context, 3);
    if (!type) return;
  } else if (args.size() > 3 && IsWord(args[2], "id")) {
    return ListByIds(context, server);
  } else if (args.size() != 2) {
    return context.reply.Error(kSyntaxError);
  }
  std::string text;
  server.clients.ForEach([&](const Client& client) {
    if (!type || HasType(client, *type)) AppendClientLine(text, client, server.clock.elapsed_ms());
  });
  context.reply.Verbatim("txt", text);
}

void ClientKill(ServerContext& context, Services& server) {
  const Args args = context.args;
  KillFilter filter;
  if (args.size() == 3) {
    filter.address = args[2];
    filter.skip_self = false;
    if (KillMatching(context, server, filter) == 0)
      return context.reply.Error("ERR No such client");
    return context.reply.Ok();
  }
  for (size_t i = 2; i < args.size(); i += 2) {
    if (i + 1 == args.size()) return context.reply.Error(kSyntaxError);
    if (!ParseKillOption(context, server, i, filter)) return;
  }
  context.reply.Integer(static_cast<int64_t>(KillMatching(context, server, filter)));
}

}  // namespace tally::server
