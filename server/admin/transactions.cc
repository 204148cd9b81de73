// MULTI, EXEC and WATCH. The dispatcher queues what comes between MULTI and EXEC.
#include <absl/strings/ascii.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/acl/acl_guard.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/command_runner.h"
#include "server/state/watch_list.h"

namespace tally::server {
namespace {

void Multi(ServerContext& context) {
  Transaction& transaction = context.client.transaction;
  if (transaction.active) return context.reply.Error("ERR MULTI calls can not be nested");
  transaction.active = true;
  context.reply.Ok();
}

// Checks the user's rights again, as they may have changed since the command was queued. Returns
// false after an error reply.
bool StillAllowed(ServerContext& context, Services& server, const CommandEntry& entry, Args args) {
  const AclDenial denial = server.guard.Check(context.client, entry, args, "multi").denial;
  if (denial == AclDenial::kNone) return true;
  context.reply.Error(
      StrCat("NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
             "EXEC call. This command is no longer allowed for the following reason: ",
             WordsOf(denial).exec));
  return false;
}

// Returns false, after an error reply, if EXEC must not run the command.
bool RunsInExec(ServerContext& context, Services& server, const Command& command) {
  if ((command.flags & kWrite) != 0 && server.effects.block_is_full()) {
    context.reply.Error("OOM The effects of this transaction are too large for the log");
    return false;
  }
  if ((command.flags & kNoExec) == 0) return true;
  const std::string_view article = (command.flags & kPubSub) != 0 ? "a " : "";
  context.reply.Error(StrCat("ERR ", absl::AsciiStrToUpper(std::string(command.name)),
                             " isn't allowed for ", article, "DENY BLOCKING client"));
  return false;
}

// Runs the queued commands; each appends its own effects. The effects of a turn are one batch of
// the log, which is loaded whole or not at all, so the transaction is atomic in the log too.
void RunQueue(ServerContext& context, Services& server, const std::vector<QueuedCommand>& queue) {
  const EffectStream::Block block(server.effects);
  std::vector<std::string_view> args;
  for (const QueuedCommand& queued : queue) {
    args.assign(queued.args.begin(), queued.args.end());
    if (!StillAllowed(context, server, *queued.entry, args)) continue;
    if (!RunsInExec(context, server, *queued.entry->command)) continue;
    server.runner->Run(context.client, *queued.entry, args);
  }
}

void Exec(ServerContext& context, Services& server) {
  Client& client = context.client;
  Transaction& transaction = client.transaction;
  if (!transaction.active) return context.reply.Error("ERR EXEC without MULTI");
  const bool failed = transaction.failed;
  const bool touched =
      transaction.touched || WatchList::AnyExpired(client, context.engine(), context.now_ms);
  const std::vector<QueuedCommand> queue = std::move(transaction.queue);
  server.watches.EndTransaction(client);
  if (failed) {
    return context.reply.Error("EXECABORT Transaction discarded because of previous errors.");
  }
  if (touched) return context.reply.NullArray();
  context.reply.Array(queue.size());
  RunQueue(context, server, queue);
}

void Discard(ServerContext& context, Services& server) {
  if (!context.client.transaction.active) return context.reply.Error("ERR DISCARD without MULTI");
  server.watches.EndTransaction(context.client);
  context.reply.Ok();
}

void Watch(ServerContext& context, Services& server) {
  if (context.client.transaction.active) {
    return context.reply.Error("ERR WATCH inside MULTI is not allowed");
  }
  for (const std::string_view key : context.args.subspan(1)) {
    // Peek without `now_ms` also finds a key that has expired.
    const Keyspace::Entry entry = context.keyspace().Peek(key);
    const bool is_expired = entry && context.keyspace().HasExpired(entry, context.now_ms);
    server.watches.Watch(context.client, context.client.database, key, is_expired);
  }
  context.reply.Ok();
}

void Unwatch(ServerContext& context, Services& server) {
  server.watches.UnwatchAll(context.client);
  context.reply.Ok();
}

constexpr uint32_t kControl = kNoScript | kAnyTime;
constexpr uint32_t kQuick = kControl | kFast | kAllowBusy;

constexpr Command kTransactionCommands[] = {
    {"discard",
     Serve<Discard>,
     1,
     kQuick | kConnection | kInMulti | kEndsMulti,
     {},
     "Discards a transaction.",
     "2.0.0"},
    {"exec",
     Serve<Exec>,
     1,
     kControl | kConnection | kSkipSlowlog | kInMulti | kEndsMulti | kRunsQueue,
     {},
     "Executes all commands in a transaction.",
     "1.2.0"},
    {"multi", Multi, 1, kQuick | kConnection | kInMulti, {}, "Starts a transaction.", "1.2.0"},
    {"unwatch",
     Serve<Unwatch>,
     1,
     kQuick | kConnection,
     {},
     "Forgets about watched keys of a transaction.",
     "2.2.0"},
    {"watch", Serve<Watch>, -2, kQuick | kConnection | kInMulti, AllKeys(kLooksAtKey),
     "Monitors changes to keys to determine the execution of a transaction.", "2.2.0", "key#0..."},
};

}  // namespace

std::span<const Command> TransactionCommands() { return kTransactionCommands; }

}  // namespace tally::server
