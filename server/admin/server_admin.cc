// INFO, SAVE, SHUTDOWN, MONITOR …: commands for the operator. CONFIG is in config.cc.
#include <string>

#include "core/bytes/str_cat.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/figures/info.h"
#include "server/interfaces/persistence.h"
#include "server/interfaces/process.h"
#include "server/log/log.h"
#include "server/state/client_table.h"

namespace tally::server {
namespace {

void Info(ServerContext& context, Services& server) {
  context.reply.Verbatim("txt", RenderInfo(server, context.args.subspan(1)));
}

void ReplyFailure(ServerContext& context, const absl::Status& status) {
  context.reply.Error(StrCat("ERR ", std::string(status.message())));
}

void LastSave(ServerContext& context, Services& server) {
  context.reply.Integer(server.persistence->last_save_ms() / 1000);
}

void Save(ServerContext& context, Services& server) {
  const absl::Status status = server.persistence->SaveNow();
  if (!status.ok()) return ReplyFailure(context, status);
  context.reply.Ok();
}

void ReplyStarted(ServerContext& context, const absl::Status& status, std::string_view started) {
  if (!status.ok()) return ReplyFailure(context, status);
  context.reply.Status(started);
}

void BgSave(ServerContext& context, Services& server) {
  const Args args = context.args;
  const bool schedule = args.size() == 2 && IsWord(args[1], "schedule");
  if (args.size() > 1 && !schedule) return context.reply.Error(kSyntaxError);
  if (server.persistence->rewriting()) {
    return context.reply.Error("ERR Background save already in progress");
  }
  ReplyStarted(context, server.persistence->StartSave(), "Background saving started");
}

void BgRewriteAof(ServerContext& context, Services& server) {
  if (server.persistence->rewriting()) {
    return context.reply.Error("ERR Background append only file rewriting already in progress");
  }
  ReplyStarted(context, server.persistence->StartRewrite(),
               "Background append only file rewriting started");
}

struct ShutdownOptions {
  bool save = false;
  bool no_save = false;
  bool now = false;
  bool force = false;
  bool abort = false;
};

bool ParseShutdown(Args words, ShutdownOptions& options) {
  for (const std::string_view word : words) {
    if (IsWord(word, "save")) {
      options.save = true;
    } else if (IsWord(word, "nosave")) {
      options.no_save = true;
    } else if (IsWord(word, "now")) {
      options.now = true;
    } else if (IsWord(word, "force")) {
      options.force = true;
    } else if (IsWord(word, "abort")) {
      options.abort = true;
    } else {
      return false;
    }
  }
  const bool other = options.save || options.no_save || options.now || options.force;
  return !(options.save && options.no_save) && !(options.abort && other);
}

// A shutdown that succeeds sends no reply: it closes the connection.
void Shutdown(ServerContext& context, Services& server) {
  ShutdownOptions options;
  if (!ParseShutdown(context.args.subspan(1), options)) return context.reply.Error(kSyntaxError);
  if (server.script_busy && !options.no_save) return context.reply.Error(kBusyError);
  // A shutdown ends within one turn, so there is never one to abort.
  if (options.abort) return context.reply.Error("ERR No shutdown in progress.");
  EndSave save = options.save ? EndSave::kAlways : EndSave::kAsConfigured;
  if (options.no_save || server.loading) save = EndSave::kNone;
  Persistence& persistence = *server.persistence;
  absl::Status status;
  if (save == EndSave::kAlways) status = persistence.SaveNow();
  if (save == EndSave::kAsConfigured) status = persistence.SaveAtEnd();
  if (status.ok() || options.force) {
    status = server.process->Shutdown(options.force, save);
  }
  if (!status.ok()) {
    server.log.Warning("SHUTDOWN failed: ", std::string(status.message()));
    context.reply.Error("ERR Errors trying to SHUTDOWN. Check logs.");
  }
}

// A client that is a monitor already gets no reply, as in Redis.
void Monitor(ServerContext& context, Services& server) {
  if (context.client.monitor) return;
  server.clients.SetMonitor(context.client, true);
  context.reply.Ok();
}

constexpr Command kServerAdminCommands[] = {
    {"bgrewriteaof", Serve<BgRewriteAof>, 1, kOperator | kNoMulti, kNoKeys,
     "Rewrites the append-only file in the background.", "1.0.0"},
    {"bgsave", Serve<BgSave>, -1, kOperator | kNoMulti, kNoKeys,
     "Saves the databases in the background.", "1.0.0", "[SCHEDULE@3.2.2]"},
    {"info", Serve<Info>, -1, kAnyTime | kDangerous, kNoKeys,
     "Returns information and statistics about the server.", "1.0.0", "[section...]"},
    {"lastsave", Serve<LastSave>, 1, kAdmin | kDangerous | kAnyTime | kFast, kNoKeys,
     "Returns the Unix timestamp of the last successful save.", "1.0.0"},
    {"monitor", Serve<Monitor>, 1, kOperator | kConnection | kAnyTime | kNoExec, kNoKeys,
     "Listens for all requests received by the server in real-time.", "1.0.0"},
    {"save", Serve<Save>, 1, kOperator | kNoMulti, kNoKeys,
     "Saves the databases before it returns.", "1.0.0"},
    {"shutdown", Serve<Shutdown>, -1, kOperator | kAnyTime | kNoMulti | kAllowBusy, kNoKeys,
     "Saves the databases and stops the server.", "1.0.0",
     "[nosave_save<NOSAVE|SAVE>] [NOW@7.0.0] [FORCE@7.0.0] [ABORT@7.0.0]"},
};

}  // namespace

std::span<const Command> ServerAdminCommands() { return kServerAdminCommands; }

}  // namespace tally::server
