#include "server/dispatch/dispatcher.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/acl/acl_check.h"
#include "server/acl/acl_guard.h"
#include "server/admin/server_context.h"
#include "server/command/command_table.h"
#include "server/command/usage.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/replication.h"
#include "server/log/log.h"
#include "server/log/quoted.h"
#include "server/state/blocked_clients.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/key_tracking.h"
#include "server/state/monitor_feed.h"
#include "server/state/stats.h"
#include "server/state/watch_list.h"

namespace tally::server {
namespace {

// The bytes of arguments that a client may queue in MULTI; the command that exceeds them is
// refused.
constexpr size_t kMaxQueuedBytes = size_t{1} << 30;

constexpr size_t kMaxPrinted = 128;
constexpr int64_t kWarningPauseMs = 60'000;

// Redis prints words as C strings, which end at a NUL.
std::string_view Printed(std::string_view word, size_t most) {
  return word.substr(0, std::min(word.find('\0'), most));
}

}  // namespace

bool Dispatcher::Execute(Client& client, Args args) {
  if (client.is_replica) [[unlikely]]
    return ExecuteOfReplica(client, args);
  if (args.empty()) return true;
  const size_t reply_begin = client.output.size();
  const CommandEntry* entry = Resolve(client, args);
  if (entry != nullptr && admission_.Postpones(client, *entry)) [[unlikely]] {
    client.state.command.Postpone();
    return false;
  }
  client.state.command.Admit();
  if (entry != nullptr && Admit(client, *entry, args)) {
    if (client.transaction.active && (entry->command->flags & kInMulti) == 0) {
      Queue(client, *entry, args);
    } else {
      client.state.command.Begin();
      Run(client, *entry, args);
      client.state.command.End();
    }
  }
  if (client.tracking != nullptr) [[unlikely]] {
    const bool keeps = entry != nullptr && (entry->command->flags & kKeepsCaching) != 0;
    KeyTracking::EndRequest(client, keeps);
  }
  FinishReply(client, reply_begin);
  if (server_.blocked.has_ready() && !server_.effects.in_block()) [[unlikely]]
    ServeReady();
  return true;
}

// The output of a replica is the stream: no reply may get into it.
bool Dispatcher::ExecuteOfReplica(Client& client, Args args) {
  if (args.empty()) {
    server_.replicas->NoteAlive(client);
    return true;
  }
  const CommandEntry* entry = server_.commands.Resolve(args);
  const bool allowed = entry != nullptr && (entry->command->flags & kFromReplica) != 0 &&
                       ArityFits(*entry->command, args.size());
  if (!allowed) {
    std::string why = "it sends ";
    AppendQuoted(why, args[0].substr(0, kMaxPrinted));
    server_.replicas->Refuse(client, why);
    return true;
  }
  client.last_active_ms = server_.clock.elapsed_ms();
  client.last_command = entry;
  client.state.command.Admit();
  client.state.command.Begin();
  Run(client, *entry, args);
  client.state.command.End();
  return true;
}

inline void Dispatcher::FinishReply(Client& client, size_t reply_begin) {
  client.last_active_ms = server_.clock.elapsed_ms();
  if (client.reply_mode != ReplyMode::kOn && !client.state.command.blocked()) [[unlikely]]
    ApplyReplyMode(client, reply_begin);
  if (!client.pushes.empty() || client.pushes.overflowed()) [[unlikely]]
    TakePushes(client);
}

const CommandEntry* Dispatcher::Resolve(Client& client, Args args) {
  // A client often repeats its last command.
  const CommandEntry* last = client.last_command;
  if (last != nullptr && last->parent == nullptr && last->command->subcommands.empty() &&
      last->keeps_name && IsWord(args[0], last->command->name)) {
    if (ArityFits(*last->command, args.size())) return last;
  }
  const CommandEntry* entry = server_.commands.Resolve(args);
  if (entry == nullptr) {
    if (!RefuseBrowser(client, args[0])) RejectUnknown(client, args);
    return nullptr;
  }
  if (!entry->command->subcommands.empty() && args.size() > 1) {
    Reject(client, entry,
           StrCat("ERR unknown subcommand '", Printed(args[1], kMaxPrinted), "'. Try ",
                  absl::AsciiStrToUpper(entry->full_name), " HELP."));
    return nullptr;
  }
  if (!ArityFits(*entry->command, args.size())) {
    Reject(client, entry,
           StrCat("ERR wrong number of arguments for '", entry->full_name, "' command",
                  UsageHint(*entry)));
    return nullptr;
  }
  client.last_command = entry;
  return entry;
}

// Protects against a browser that a page of another site makes connect to this port: nothing in its
// HTTP request may be run as a command.
bool Dispatcher::RefuseBrowser(Client& client, std::string_view word) {
  if (!IsWord(word, "post") && !IsWord(word, "host:")) return false;
  const int64_t now_ms = server_.clock.now_ms();
  if (now_ms - browser_warned_ms_ > kWarningPauseMs) {
    browser_warned_ms_ = now_ms;
    server_.log.Warning("HTTP from ", client.address,
                        " on the port of RESP. The connection is closed.");
  }
  client.state.end.Finish();
  return true;
}

// Where a word begins as the commands of a family do, with "LIMIT." for example, says where they
// are listed.
std::string Dispatcher::HelpHint(std::string_view word) const {
  const size_t dot = word.find('.');
  if (dot == std::string_view::npos) return {};
  const CommandEntry* family = server_.commands.Find(word.substr(0, dot));
  if (family == nullptr || server_.commands.FindSub(*family, "help") == nullptr) return {};
  return StrCat("(try ", absl::AsciiStrToUpper(family->full_name), " HELP)");
}

void Dispatcher::RejectUnknown(Client& client, Args args) {
  std::string shown;
  for (size_t i = 1; i < args.size() && shown.size() < kMaxPrinted; ++i) {
    StrAppend(shown, "'", Printed(args[i], kMaxPrinted - shown.size()), "' ");
  }
  Reject(client, nullptr,
         StrCat("ERR unknown command '", Printed(args[0], kMaxPrinted),
                "', with args beginning with: ", shown, HelpHint(args[0])));
}

void Dispatcher::Reject(Client& client, const CommandEntry* entry, std::string_view error) {
  if (entry != nullptr) ++server_.stats.by_command[entry->id].rejected;
  if (entry != nullptr && (entry->command->flags & kRunsQueue) != 0) {
    server_.watches.EndTransaction(client);
    server_.stats.CountError("EXECABORT");
    if (error.starts_with("ERR ")) error.remove_prefix(4);
    return client.reply.Error(StrCat("EXECABORT Transaction discarded because of: ", error));
  }
  server_.stats.CountError(error);
  client.transaction.failed |= client.transaction.active;
  client.reply.Error(error);
}

bool Dispatcher::Admit(Client& client, const CommandEntry& entry, Args args) {
  std::string refusal;
  if (admission_.Admits(client, entry, args, refusal)) [[likely]]
    return true;
  Reject(client, &entry, refusal);
  return false;
}

void Dispatcher::Queue(Client& client, const CommandEntry& entry, Args args) {
  Transaction& transaction = client.transaction;
  QueuedCommand queued{&entry, {}};
  for (const std::string_view arg : args) {
    queued.args.emplace_back(arg);
    transaction.queued_bytes += arg.size() + sizeof(std::string);
  }
  if (transaction.queued_bytes > kMaxQueuedBytes) {
    Reject(client, &entry, "ERR the transaction is too large");
    return;
  }
  transaction.flags |= entry.command->flags;
  transaction.queue.push_back(std::move(queued));
  client.reply.Status("QUEUED");
}

void Dispatcher::RunFromScript(Client& client, const Client& caller, Args args,
                               ScriptRights& rights) {
  const CommandEntry* entry = server_.commands.Resolve(args);
  const std::string refusal = admission_.RefuseInScript(caller, entry, args, rights);
  if (!refusal.empty()) {
    if (entry != nullptr) ++server_.stats.by_command[entry->id].rejected;
    server_.stats.CountError(refusal);
    return client.reply.Error(refusal);
  }
  rights.exceed_memory |= (entry->command->flags & kWrite) != 0;
  Run(client, *entry, args);
}

void Dispatcher::Run(Client& client, const CommandEntry& entry, Args args) {
  const size_t reply_begin = client.output.size();
  const int64_t begin_us = last_micros_;
  ServerContext context(server_, client,
                        {.entry = entry,
                         .args = args,
                         .database = client.database,
                         .now_ms = server_.clock.now_ms(),
                         .fetched = client.fetched_command == &entry,
                         .request = client.request});
  server_.tracking.set_author(client.id);
  Call(context);
  if (client.tracking != nullptr) [[unlikely]]
    server_.tracking.NoteRead(client, entry, args);
  last_micros_ = CycleMicros();
  if (client.blocked != nullptr) [[unlikely]] {
    client.blocked->micros = last_micros_ - begin_us;
    recorder_.RecordBlocked(entry, last_micros_ - begin_us);
  } else {
    recorder_.Record(client, entry, args, reply_begin, last_micros_ - begin_us);
  }
  if ((entry.command->flags & (kSkipMonitor | kAdmin)) == 0) {
    FeedMonitors(server_.clients, server_.clock, client, args);
  }
  if (client.taken_request.size() > 0) [[unlikely]]
    client.taken_request = {};
}

void Dispatcher::Replay(Client& client, const CommandEntry& entry, Args args) {
  ServerContext context(server_, client,
                        {.entry = entry,
                         .args = args,
                         .database = client.database,
                         .now_ms = server_.clock.now_ms(),
                         .replaying = true,
                         .request = client.request});
  Call(context);
}

void Dispatcher::Follow(Client& client, const CommandEntry& entry, Args args) {
  ServerContext context(server_, client,
                        {.entry = entry,
                         .args = args,
                         .database = client.database,
                         .now_ms = server_.clock.now_ms(),
                         .replaying = true,
                         .logs_replay = true,
                         .request = client.request});
  Call(context);
  if (server_.blocked.has_ready() && !server_.effects.in_block()) [[unlikely]]
    ServeReady();
}

inline void Dispatcher::Call(ServerContext& context) {
  if (const Handler handler = context.entry.command->handler; handler.needs_server()) {
    handler.RunInServer(context);
  } else {
    handler.Run(context);
  }
  if (context.changes() > 0 || context.logged()) NoteChange(context);
}

void Dispatcher::NoteChange(ServerContext& context) {
  server_.stats.changes_since_save += context.changes();
  context.client.wrote = true;
  if (!context.logged() && context.logs()) AppendCall(context);
  context.client.written_to = server_.effects.offset();
}

void Dispatcher::AppendCall(const ServerContext& context) {
  if (context.entry.keeps_name) [[likely]]
    return server_.effects.Append(context.database, context.args);
  std::vector<std::string_view> words(context.args.begin(), context.args.end());
  words[0] = context.entry.command->name;
  server_.effects.Append(context.database, words);
}

bool Dispatcher::Unblock(Client& client, std::string_view error) {
  if (client.blocked == nullptr) return false;
  recorder_.CountUnblocked(*client.blocked->entry, error);
  EndWait(client, error);
  return true;
}

void Dispatcher::TimeOut(Client& client) { EndWait(client, {}); }

void Dispatcher::EndWait(Client& client, std::string_view error) {
  const size_t reply_begin = client.output.size();
  const std::unique_ptr<BlockedCommand> command = server_.blocked.Take(client);
  if (!error.empty()) {
    client.reply.Error(error);
  } else if (command->replicas > 0) {
    client.reply.Integer(static_cast<int64_t>(server_.replicas->Acknowledged(command->offset)));
  } else {
    client.reply.NullArray();
  }
  FinishReply(client, reply_begin);
  server_.clients.MarkPending(client);
}

void Dispatcher::ServeReady() {
  BlockedClients& blocked = server_.blocked;
  while (blocked.has_ready()) {
    const BlockedClients::Ready ready = blocked.TakeReady();
    const Keyspace& keyspace = server_.engine.database(ready.database);
    while (Client* const client = blocked.First(ready)) {
      const Keyspace::Entry entry = keyspace.Peek(ready.key, server_.clock.now_ms());
      if (!entry || entry.type() != ready.type) break;
      const std::string_view key = ready.key;
      RunBlocked(*client, &key);
    }
  }
}

void Dispatcher::RunBlocked(Client& client, const std::string_view* key) {
  const std::unique_ptr<BlockedCommand> command = server_.blocked.Take(client);
  if (client.finished()) return;
  const CommandEntry& entry = *command->entry;
  const std::vector<std::string_view> args(command->args.begin(), command->args.end());
  const size_t reply_begin = client.output.size();
  const int64_t begin_us = last_micros_;
  client.state.command.Begin();
  // The user's rights may have changed since the command began to wait.
  const AclVerdict verdict = server_.guard.Check(client, entry, args, "toplevel");
  if (verdict.denial == AclDenial::kNone) {
    ServerContext context(server_, client,
                          {.entry = entry,
                           .args = args,
                           .database = command->database,
                           .now_ms = server_.clock.now_ms(),
                           .ready_key = key});
    server_.tracking.set_author(client.id);
    Call(context);
  } else {
    client.reply.Error(DenialError(verdict));
  }
  last_micros_ = CycleMicros();
  if (client.blocked != nullptr) return client.state.command.End();
  recorder_.RecordAwaited(client, *command, args, reply_begin, last_micros_ - begin_us);
  client.state.command.End();
  FinishReply(client, reply_begin);
  server_.clients.MarkPending(client);
}

void Dispatcher::TakePushes(Client& client) {
  if (client.pushes.overflowed()) client.output.Overflow();
  client.output.Append(client.pushes.Share());
  client.pushes.Clear();
}

void Dispatcher::ApplyReplyMode(Client& client, size_t reply_begin) {
  switch (client.reply_mode) {
    case ReplyMode::kOn:
      return;
    case ReplyMode::kOff:
      client.output.Truncate(reply_begin);
      return;
    case ReplyMode::kSkipNext:  // this command has set it
      client.output.Truncate(reply_begin);
      client.reply_mode = ReplyMode::kSkipThis;
      return;
    case ReplyMode::kSkipThis:
      client.output.Truncate(reply_begin);
      client.reply_mode = ReplyMode::kOn;
      return;
  }
}

}  // namespace tally::server
