// CLIENT: connections as their owners and operators see them.
#include <optional>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/acl/acl_guard.h"
#include "server/admin/client_list.h"
#include "server/admin/client_tracking.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"
#include "server/interfaces/command_runner.h"
#include "server/interfaces/replication.h"
#include "server/state/client_name.h"
#include "server/state/client_table.h"
#include "server/state/client_text.h"
#include "server/state/pause.h"

namespace tally::server {
namespace {

void ClientId(ServerContext& context) {
  context.reply.Integer(static_cast<int64_t>(context.client.id));
}

void ClientGetName(ServerContext& context) {
  if (context.client.name.empty()) return context.reply.Null();
  context.reply.Bulk(context.client.name);
}

void ClientSetName(ServerContext& context) {
  if (!IsClientName(context.args[2])) return context.reply.Error(kClientNameError);
  context.client.name = context.args[2];
  context.reply.Ok();
}

void ClientSetInfo(ServerContext& context) {
  const std::string_view attribute = context.args[2];
  const std::string_view value = context.args[3];
  const bool is_name = IsWord(attribute, "lib-name");
  if (!is_name && !IsWord(attribute, "lib-ver")) {
    return context.reply.Error(StrCat("ERR Unrecognized option '", attribute, "'"));
  }
  if (!IsClientName(value)) {
    return context.reply.Error(
        StrCat("ERR ", attribute, " cannot contain spaces, newlines or special characters."));
  }
  (is_name ? context.client.library_name : context.client.library_version) = value;
  context.reply.Ok();
}

void ClientInfo(ServerContext& context, Services& server) {
  std::string text;
  AppendClientLine(text, context.client, server.clock.elapsed_ms());
  context.reply.Verbatim("txt", text);
}

void ClientPause(ServerContext& context, Services& server) {
  const Args args = context.args;
  Pause pause;
  if (args.size() == 4) {
    pause.writes_only = IsWord(args[3], "write");
    if (!pause.writes_only && !IsWord(args[3], "all")) {
      return context.reply.Error("ERR CLIENT PAUSE mode must be WRITE or ALL");
    }
  } else if (args.size() != 3) {
    return context.reply.Error(StrCat("ERR unknown subcommand or wrong number of arguments for '",
                                      args[1], "'. Try CLIENT HELP."));
  }
  const auto ms = context.Int64Arg(2, "ERR timeout is not an integer or out of range");
  if (!ms) return;
  if (*ms < 0) return context.reply.Error("ERR timeout is negative");
  if (__builtin_add_overflow(server.clock.elapsed_ms(), *ms, &pause.until_ms)) {
    return context.reply.Error("ERR timeout is out of range");
  }
  pause.failover = server.pause.failover;
  server.pause = pause;
  context.reply.Ok();
}

// Does not end the wait of a client that is held back by CLIENT PAUSE: its command has not begun.
void ClientUnblock(ServerContext& context, Services& server) {
  std::string_view error;
  if (context.args.size() > 4) {
    return ReplyUnknownSubcommand(context);
  }
  if (context.args.size() == 4) {
    if (IsWord(context.args[3], "error")) {
      error = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
    } else if (!IsWord(context.args[3], "timeout")) {
      return context.reply.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    }
  }
  const auto id = context.Int64Arg(2);
  if (!id) return;
  Client* const client = server.clients.Find(static_cast<uint64_t>(*id));
  const bool unblocked = client != nullptr && server.runner->Unblock(*client, error);
  context.reply.Integer(unblocked ? 1 : 0);
}

void ClientUnpause(ServerContext& context, Services& server) {
  server.pause = {.failover = server.pause.failover};
  context.reply.Ok();
}

// Reads ON or OFF. Returns nullopt, after an error reply, for another word.
std::optional<bool> SwitchArg(ServerContext& context, size_t index) {
  if (IsWord(context.args[index], "on")) return true;
  if (IsWord(context.args[index], "off")) return false;
  context.reply.Error(kSyntaxError);
  return std::nullopt;
}

void ClientNoEvict(ServerContext& context) {
  const auto on = SwitchArg(context, 2);
  if (!on) return;
  context.client.no_evict = *on;
  context.reply.Ok();
}

void ClientNoTouch(ServerContext& context) {
  const auto on = SwitchArg(context, 2);
  if (!on) return;
  context.client.no_touch = *on;
  context.reply.Ok();
}

void ClientReply(ServerContext& context) {
  ReplyMode& mode = context.client.reply_mode;
  const std::string_view word = context.args[2];
  if (IsWord(word, "on")) {
    mode = ReplyMode::kOn;
    context.reply.Ok();
  } else if (IsWord(word, "off")) {
    mode = ReplyMode::kOff;
  } else if (IsWord(word, "skip")) {
    if (mode != ReplyMode::kOff) mode = ReplyMode::kSkipNext;
  } else {
    context.reply.Error(kSyntaxError);
  }
}

void ClientHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "CACHING (YES|NO)",
      "    Enable/disable tracking of the keys for next command in OPTIN/OPTOUT modes.",
      "GETREDIR",
      "    Return the client ID we are redirecting to when tracking is enabled.",
      "GETNAME",
      "    Return the name of the current connection.",
      "ID",
      "    Return the ID of the current connection.",
      "INFO",
      "    Return information about the current client connection.",
      "KILL <ip:port>",
      "    Kill connection made from <ip:port>.",
      "KILL <option> <value> [<option> <value> [...]]",
      "    Kill connections. Options are:",
      "    * ADDR (<ip:port>|<unixsocket>:0)",
      "      Kill connections made from the specified address",
      "    * LADDR (<ip:port>|<unixsocket>:0)",
      "      Kill connections made to specified local address",
      "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
      "      Kill connections by type.",
      "    * USER <username>",
      "      Kill connections authenticated by <username>.",
      "    * SKIPME (YES|NO)",
      "      Skip killing current connection (default: yes).",
      "LIST [options ...]",
      "    Return information about client connections. Options:",
      "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
      "      Return clients of specified type.",
      "UNPAUSE",
      "    Stop the current client pause, resuming traffic.",
      "PAUSE <timeout> [WRITE|ALL]",
      "    Suspend all, or just write, clients for <timeout> milliseconds.",
      "REPLY (ON|OFF|SKIP)",
      "    Control the replies sent to the current connection.",
      "SETNAME <name>",
      "    Assign the name <name> to the current connection.",
      "SETINFO (LIB-NAME|LIB-VER) <text>",
      "    Tell the name or the version of the client's library.",
      "UNBLOCK <clientid> [TIMEOUT|ERROR]",
      "    Unblock the specified blocked client.",
      "TRACKING (ON|OFF) [REDIRECT <id>] [BCAST] [PREFIX <prefix> [...]]",
      "         [OPTIN] [OPTOUT] [NOLOOP]",
      "    Control server assisted client side caching.",
      "TRACKINGINFO",
      "    Report tracking status for the current connection.",
      "NO-EVICT (ON|OFF)",
      "    Protect current client connection from eviction.",
      "NO-TOUCH (ON|OFF)",
      "    Leave the access times of keys as they are.",
  };
  ReplyHelp(context, kLines);
}

// Commands of CLIENT run during a pause, so that CLIENT UNPAUSE can end it.
constexpr uint32_t kAlways = kAnyTime | kWhilePaused | kKeepsCaching;
constexpr uint32_t kOwn = kNoScript | kAlways;
constexpr uint32_t kOthers = kAdmin | kDangerous | kOwn;

constexpr Command kClientSubcommands[] = {
    {"caching", ClientCaching, 3, kOwn | kConnection, kNoKeys,
     "Instructs the server whether to track the keys in the next request.", "6.0.0",
     "mode<YES|NO>"},
    {"getname", ClientGetName, 2, kOwn, kNoKeys, "Returns the name of the connection.", "2.6.9"},
    {"getredir", ClientGetRedir, 2, kOwn, kNoKeys,
     "Returns the client ID to which the connection's tracking notifications are redirected.",
     "6.0.0"},
    {"help", ClientHelp, 2, kAlways, kNoKeys, "Returns helpful text about the subcommands.",
     "5.0.0"},
    {"id", ClientId, 2, kOwn, kNoKeys, "Returns the unique client ID of the connection.", "5.0.0"},
    {"info", Serve<ClientInfo>, 2, kOwn, kNoKeys, "Returns information about the connection.",
     "6.2.0"},
    {"kill", Serve<ClientKill>, -3, kOthers, kNoKeys, "Terminates open connections.", "2.4.0",
     "filter<'ip:port'!2.8.12|new-format<[ID client-id:int@2.8.12]|[TYPE "
     "normal_master_slave_pubsub@2.8.12<NORMAL|MASTER@3.2.0|SLAVE|REPLICA@5.0.0|PUBSUB>]|[USER "
     "username]|[ADDR 'ip:port']|[LADDR 'ip:port'@6.2.0]|[SKIPME yes/no]>...>"},
    {"list", Serve<ClientList>, -2, kOthers, kNoKeys, "Lists open connections.", "2.4.0",
     "[TYPE normal_master_replica_pubsub@5.0.0<NORMAL|MASTER|REPLICA|PUBSUB>] [ID "
     "id@6.2.0(client-id:int...)]"},
    {"no-evict", ClientNoEvict, 3, kOthers | kConnection, kNoKeys,
     "Sets the client eviction mode of the connection.", "7.0.0", "enabled<ON|OFF>"},
    {"no-touch", ClientNoTouch, 3, kOwn | kConnection, kNoKeys,
     "Controls whether commands of the connection mark the access of keys.", "7.2.0",
     "enabled<ON|OFF>"},
    {"pause", Serve<ClientPause>, -3, kOthers, kNoKeys, "Suspends commands processing.", "2.9.50",
     "timeout:int [mode@6.2.0<WRITE|ALL>]"},
    {"reply", ClientReply, 3, kOwn | kConnection, kNoKeys,
     "Instructs the server whether to reply to commands.", "3.2.0", "on_off_skip<ON|OFF|SKIP>"},
    {"setinfo", ClientSetInfo, 4, kOwn | kConnection, kNoKeys,
     "Sets information specific to the client or connection.", "7.2.0",
     "attr<LIB-NAME libname|LIB-VER libver>"},
    {"setname", ClientSetName, 3, kOwn | kConnection, kNoKeys, "Sets the connection name.", "2.6.9",
     "connection-name"},
    {"tracking", Serve<ClientTracking>, -3, kOwn | kConnection, kNoKeys,
     "Controls server-assisted client-side caching for the connection.", "6.0.0",
     "status<ON|OFF> [REDIRECT client-id:int] [PREFIX... prefix] [BCAST] [OPTIN] [OPTOUT] "
     "[NOLOOP]"},
    {"trackinginfo", ClientTrackingInfo, 2, kOwn, kNoKeys,
     "Returns information about server-assisted client-side caching for the connection.", "6.2.0"},
    {"unblock", Serve<ClientUnblock>, -3, kOthers, kNoKeys,
     "Unblocks a client that is blocked by a command that waits.", "5.0.0",
     "client-id:int [timeout_error<TIMEOUT|ERROR>]"},
    {"unpause", Serve<ClientUnpause>, 2, kOthers, kNoKeys, "Resumes processing commands.", "6.2.0"},
};

constexpr Command kClientCommands[] = {
    {"client", nullptr, -2, kWhilePaused, kNoKeys, "A container for client connection commands.",
     "2.4.0", "", kClientSubcommands},
};

}  // namespace

std::span<const Command> ClientCommands() { return kClientCommands; }

}  // namespace tally::server
