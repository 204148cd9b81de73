// HELLO, AUTH, PING, SELECT …: the protocol, the user and the database of one connection. CLIENT is
// in client.cc.
#include <climits>
#include <string>
#include <utility>

#include "core/bytes/str_cat.h"
#include "core/bytes/text.h"
#include "server/acl/acl_guard.h"
#include "server/acl/acl_users.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/config/version.h"
#include "server/state/client_name.h"
#include "server/state/client_table.h"
#include "server/state/key_tracking.h"
#include "server/state/pubsub.h"
#include "server/state/watch_list.h"

namespace tally::server {
namespace {

struct HelloOptions {
  int protocol = 0;  // 0: no change
  const std::string_view* user = nullptr;
  const std::string_view* password = nullptr;
  const std::string_view* name = nullptr;
};

// Returns false after an error reply.
bool ParseHello(ServerContext& context, HelloOptions& options) {
  const Args args = context.args;
  if (args.size() < 2) return true;
  const auto protocol =
      context.Int64Arg(1, "ERR Protocol version is not an integer or out of range");
  if (!protocol) return false;
  if (*protocol < 2 || *protocol > 3) {
    context.reply.Error("NOPROTO unsupported protocol version");
    return false;
  }
  options.protocol = static_cast<int>(*protocol);
  for (size_t i = 2; i < args.size(); ++i) {
    const size_t left = args.size() - 1 - i;
    if (IsWord(args[i], "auth") && left >= 2) {
      options.user = &args[i + 1];
      options.password = &args[i + 2];
      i += 2;
    } else if (IsWord(args[i], "setname") && left >= 1) {
      options.name = &args[++i];
      if (IsClientName(*options.name)) continue;
      context.reply.Error(kClientNameError);
      return false;
    } else {
      context.reply.Error(StrCat("ERR Syntax error in HELLO option '", args[i], "'"));
      return false;
    }
  }
  return true;
}

void Hello(ServerContext& context, Services& server) {
  HelloOptions options;
  if (!ParseHello(context, options)) return;
  Client& client = context.client;
  if (options.user != nullptr &&
      !server.guard.Login(context.client, context.args[0], *options.user, *options.password)) {
    return context.reply.Error(kWrongPasswordError);
  }
  if (!client.authenticated) {
    return context.reply.Error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
  }
  if (options.name != nullptr) client.name = *options.name;
  if (options.protocol != 0) client.reply.set_protocol(options.protocol);
  ReplyBuilder& reply = context.reply;
  reply.Map(7);
  reply.Bulk("server");
  reply.Bulk("redis");
  reply.Bulk("version");
  reply.Bulk(kRedisVersion);
  reply.Bulk("proto");
  reply.Integer(reply.protocol());
  reply.Bulk("id");
  reply.Integer(static_cast<int64_t>(client.id));
  reply.Bulk("mode");
  reply.Bulk("standalone");
  reply.Bulk("role");
  reply.Bulk("master");
  reply.Bulk("modules");
  reply.Array(0);
}

void Auth(ServerContext& context, Services& server) {
  const Args args = context.args;
  if (args.size() > 3) return context.reply.Error(kSyntaxError);
  if (args.size() == 2 && server.users.default_user()->any_password) {
    return context.reply.Error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  }
  const std::string_view user = args.size() == 3 ? args[1] : kDefaultUser;
  if (!server.guard.Login(context.client, args[0], user, args.back())) {
    return context.reply.Error(kWrongPasswordError);
  }
  context.reply.Ok();
}

// Replies the argument. A long one is not copied: the reply shares the memory of the request.
void ReplyArgument(ServerContext& context, size_t index) {
  const std::string_view argument = context.args[index];
  if (Text text = context.TakeFromRequest(argument); !text.empty()) {
    const SharedBytes shared(std::move(text));
    context.reply.Bulk(shared);
    context.KeepRequest(shared);
  } else {
    context.reply.Bulk(argument);
  }
}

void Ping(ServerContext& context) {
  const Args args = context.args;
  if (args.size() > 2) {
    return context.reply.Error("ERR wrong number of arguments for 'ping' command");
  }
  if (context.client.subscribed() && context.reply.protocol() == 2) {
    context.reply.Array(2);
    context.reply.Bulk("pong");
    return context.reply.Bulk(args.size() == 2 ? args[1] : "");
  }
  if (args.size() == 2) return ReplyArgument(context, 1);
  context.reply.Status("PONG");
}

void Echo(ServerContext& context) { ReplyArgument(context, 1); }

void Select(ServerContext& context) {
  const auto database = context.DatabaseArg(1);
  if (!database) return;
  context.client.database = *database;
  context.reply.Ok();
}

void Quit(ServerContext& context) {
  context.client.state.end.Finish();
  context.reply.Ok();
}

void Reset(ServerContext& context, Services& server) {
  Client& client = context.client;
  server.watches.EndTransaction(client);
  server.pubsub.Forget(client);
  server.tracking.Stop(client);
  server.clients.SetMonitor(client, false);
  client.database = 0;
  client.name.clear();
  client.reply_mode = ReplyMode::kOn;
  client.no_evict = false;
  client.no_touch = false;
  client.reply.set_protocol(2);
  LoginAsDefault(server.users, client);
  context.reply.Status("RESET");
}

constexpr uint32_t kTalk = kNoScript | kAnyTime | kFast | kAllowBusy;
// Flags of the commands that leave every state: MULTI, subscriptions, a missing login.
constexpr uint32_t kLeaves =
    kTalk | kConnection | kNoAuth | kInMulti | kEndsMulti | kWhileSubscribed;

// Flags of commands with a password, which MONITOR and SLOWLOG must not show.
constexpr uint32_t kSecret = kTalk | kConnection | kNoAuth | kSkipMonitor | kSkipSlowlog;

constexpr Command kConnectionCommands[] = {
    {"auth", Serve<Auth>, -2, kSecret, kNoKeys, "Authenticates the connection.", "1.0.0",
     "[username@6.0.0] password"},
    {"echo", Echo, 2, kAnyTime | kFast, kNoKeys, "Returns the given string.", "1.0.0", "message"},
    {"hello", Serve<Hello>, -1, kSecret, kNoKeys, "Handshakes with the server.", "6.0.0",
     "[arguments(protover:int [AUTH username_password(username password)] [SETNAME clientname])]"},
    {"ping", Ping, -1, kFast | kWhileSubscribed | kRefusedWhileUnhealthy, kNoKeys,
     "Returns the server's liveliness response.", "1.0.0", "[message]"},
    {"quit", Quit, -1, kLeaves, kNoKeys, "Closes the connection.", "1.0.0"},
    {"reset", Serve<Reset>, 1, kLeaves, kNoKeys, "Resets the connection.", "6.2.0"},
    {"select", Select, 2, kAnyTime | kFast, kNoKeys, "Changes the selected database.", "1.0.0",
     "index:int"},
};

}  // namespace

std::span<const Command> ConnectionCommands() { return kConnectionCommands; }

}  // namespace tally::server
