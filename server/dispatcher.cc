#include "server/dispatcher.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "server/acl/acl_guard.h"
#include "server/acl/acl_users.h"
#include "server/admin/server_context.h"
#include "server/command/command_table.h"
#include "server/command/usage.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/log/log.h"
#include "server/log/quoted.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/evictor.h"
#include "server/state/hot_keys.h"
#include "server/state/loop_stats.h"
#include "server/state/monitor_feed.h"
#include "server/state/persistence.h"
#include "server/state/slowlog.h"
#include "server/state/stats.h"
#include "server/state/watch_list.h"

namespace tally::server {
namespace {

std::string_view ScriptDenial(AclDenial denial) {
  switch (denial) {
    case AclDenial::kCommand:
      return "ERR The user executing the script can't run this command or subcommand";
    case AclDenial::kKey:
      return "ERR The user executing the script can't access at least one of the keys mentioned in "
             "the command arguments";
    case AclDenial::kChannel:
      return "ERR The user executing the script can't publish to the channel mentioned in the "
             "command";
    case AclDenial::kNone:
      break;
  }
  return "";
}

// The bytes of arguments that a client may queue in MULTI; the command that exceeds them is
// refused.
constexpr size_t kMaxQueuedBytes = size_t{1} << 30;

constexpr size_t kMaxPrinted = 128;
constexpr int64_t kWarningPauseMs = 60'000;

// Redis prints words as C strings, which end at a NUL.
std::string_view Printed(std::string_view word, size_t most) {
  return word.substr(0, std::min(word.find('\0'), most));
}

constexpr std::string_view kSnapshotError =
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
    "disk. Commands that may modify the data set are disabled, because this instance is configured "
    "to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error "
    "option). "
    "Please check the Redis logs for details about the RDB error.";

bool SnapshotsAreMissed(const Persistence& persistence, const Config& config) {
  return config.stop_writes_on_bgsave_error && persistence.snapshot_failed();
}

// Whether writes are allowed: not while the log cannot be written or needed snapshots fail.
bool MayWrite(const Persistence& persistence, const Config& config) {
  return persistence.write_error().ok() && !SnapshotsAreMissed(persistence, config);
}

// The error for a write that is refused; empty if MayWrite.
std::string WriteRefusal(const Persistence& persistence, const Config& config) {
  const absl::Status& error = persistence.write_error();
  if (!error.ok()) {
    return StrCat("MISCONF Errors writing to the AOF file: ", std::string(error.message()));
  }
  return SnapshotsAreMissed(persistence, config) ? std::string(kSnapshotError) : std::string();
}

}  // namespace

bool Dispatcher::Execute(Client& client, Args args) {
  if (args.empty()) return true;
  const size_t reply_begin = client.output.size();
  const CommandTable::Item* item = Resolve(client, args);
  if (item != nullptr && Paused(client, *item)) [[unlikely]] {
    client.postponed = true;
    return false;
  }
  client.postponed = false;
  if (item != nullptr && Admit(client, *item, args)) {
    if (client.transaction.active && (item->command->flags & kInMulti) == 0) {
      Queue(client, *item, args);
    } else {
      client.running = true;
      Run(client, *item, args);
      client.running = false;
    }
  }
  client.last_active_ms = server_.clock.now_ms();
  if (client.reply_mode != ReplyMode::kOn) [[unlikely]]
    ApplyReplyMode(client, reply_begin);
  if (!client.pushes.empty() || client.pushes.overflowed()) [[unlikely]]
    TakePushes(client);
  return true;
}

bool Dispatcher::Paused(const Client& client, const CommandTable::Item& item) const {
  if (server_.pause.until_ms <= server_.clock.now_ms()) [[likely]]
    return false;
  if ((item.command->flags & kWhilePaused) != 0) return false;
  return !server_.pause.writes_only || (FlagsOf(client, item) & (kWrite | kMayReplicate)) != 0;
}

uint32_t Dispatcher::FlagsOf(const Client& client, const CommandTable::Item& item) {
  const uint32_t flags = item.command->flags;
  if (!client.transaction.active || (flags & kRunsQueue) == 0) [[likely]]
    return flags;
  return flags | (client.transaction.flags & (kWrite | kDenyOom | kMayReplicate));
}

const CommandTable::Item* Dispatcher::Resolve(Client& client, Args args) {
  // A client often repeats its last command.
  const CommandTable::Item* last = client.last_command;
  if (last != nullptr && last->parent == nullptr && last->command->subcommands.empty() &&
      IsWord(args[0], last->command->name)) {
    if (ArityFits(*last->command, args.size())) return last;
  }
  const CommandTable::Item* item = server_.commands.Resolve(args);
  if (item == nullptr) {
    if (!RefuseBrowser(client, args[0])) RejectUnknown(client, args);
    return nullptr;
  }
  if (!item->command->subcommands.empty() && args.size() > 1) {
    Reject(client, item,
           StrCat("ERR unknown subcommand '", Printed(args[1], kMaxPrinted), "'. Try ",
                  absl::AsciiStrToUpper(item->full_name), " HELP."));
    return nullptr;
  }
  if (!ArityFits(*item->command, args.size())) {
    Reject(client, item,
           StrCat("ERR wrong number of arguments for '", item->full_name, "' command",
                  UsageHint(*item)));
    return nullptr;
  }
  client.last_command = item;
  return item;
}

// Protects against a browser that a page of another site makes connect to this port: nothing in its
// HTTP request may be run as a command.
bool Dispatcher::RefuseBrowser(Client& client, std::string_view word) {
  if (!IsWord(word, "post") && !IsWord(word, "host:")) return false;
  const int64_t now = server_.clock.now_ms();
  if (now - browser_warned_ms_ > kWarningPauseMs) {
    browser_warned_ms_ = now;
    server_.log.Warning("HTTP from ", client.address,
                        " on the port of RESP. The connection is closed.");
  }
  client.state.end.Finish();
  return true;
}

void Dispatcher::RejectUnknown(Client& client, Args args) {
  std::string shown;
  for (size_t i = 1; i < args.size() && shown.size() < kMaxPrinted; ++i) {
    StrAppend(shown, "'", Printed(args[i], kMaxPrinted - shown.size()), "' ");
  }
  Reject(client, nullptr,
         StrCat("ERR unknown command '", Printed(args[0], kMaxPrinted),
                "', with args beginning with: ", shown));
}

void Dispatcher::Reject(Client& client, const CommandTable::Item* item, std::string_view error) {
  if (item != nullptr) ++server_.stats.by_command[item->id].rejected;
  if (item != nullptr && (item->command->flags & kRunsQueue) != 0) {
    server_.watches.EndTransaction(client);
    server_.stats.CountError("EXECABORT");
    if (error.starts_with("ERR ")) error.remove_prefix(4);
    return client.reply.Error(StrCat("EXECABORT Transaction discarded because of: ", error));
  }
  server_.stats.CountError(error);
  client.transaction.failed |= client.transaction.active;
  client.reply.Error(error);
}

bool Dispatcher::Admit(Client& client, const CommandTable::Item& item, Args args) {
  const Command& command = *item.command;
  if (!client.authenticated && (command.flags & kNoAuth) == 0) [[unlikely]] {
    // The default user may have lost its password since the client connected.
    LoginAsDefault(server_.users, client);
    if (!client.authenticated) {
      Reject(client, &item, "NOAUTH Authentication required.");
      return false;
    }
  }
  const bool unrestricted = client.acl == nullptr || client.acl->unrestricted;
  if (!unrestricted && !Permit(client, item, args)) [[unlikely]]
    return false;
  if (server_.config.maxmemory != 0 && !server_.script_busy) {
    server_.evictor.MakeRoom();
    if (server_.evictor.out_of_memory() && !RunsWithoutMemory(client, item)) {
      Reject(client, &item, kOutOfMemoryError);
      return false;
    }
  }
  if ((FlagsOf(client, item) & kWrite) != 0 && !AdmitWrite(client, item)) return false;
  if (server_.loading && (command.flags & kLoading) == 0) [[unlikely]] {
    Reject(client, &item, "LOADING Redis is loading the dataset in memory");
    return false;
  }
  const bool only_listens = client.subscribed() && client.reply.protocol() == 2;
  if (only_listens && (command.flags & kWhileSubscribed) == 0) [[unlikely]] {
    Reject(client, &item,
           StrCat("ERR Can't execute '", item.full_name,
                  "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
                  "allowed in this context"));
    return false;
  }
  if (client.transaction.active && (command.flags & kNoMulti) != 0) [[unlikely]] {
    Reject(client, &item, "ERR Command not allowed inside a transaction");
    return false;
  }
  if (server_.script_busy && (command.flags & kAllowBusy) == 0) [[unlikely]] {
    Reject(client, &item, kBusyError);
    return false;
  }
  constexpr uint32_t kUsesKeys = kWrite | kReadOnly | kMayReplicate;
  if (client.monitor && (command.flags & kUsesKeys) != 0) [[unlikely]] {
    Reject(client, &item, "ERR Replica can't interact with the keyspace");  // as Redis calls it
    return false;
  }
  return true;
}

bool Dispatcher::Permit(Client& client, const CommandTable::Item& item, Args args) {
  const std::string_view place = client.transaction.active ? "multi" : "toplevel";
  const AclVerdict verdict = server_.guard.Check(client, item, args, place);
  if (verdict.denial == AclDenial::kNone) return true;
  Reject(client, &item, DenialError(verdict));
  return false;
}

bool Dispatcher::AdmitWrite(Client& client, const CommandTable::Item& item) {
  if (MayWrite(*server_.persistence, server_.config)) [[likely]]
    return true;
  Reject(client, &item, WriteRefusal(*server_.persistence, server_.config));
  return false;
}

bool Dispatcher::RunsWithoutMemory(const Client& client, const CommandTable::Item& item) {
  if ((FlagsOf(client, item) & kDenyOom) != 0) return false;
  // Queueing takes memory too.
  return !client.transaction.active || (item.command->flags & kEndsMulti) != 0;
}

void Dispatcher::Queue(Client& client, const CommandTable::Item& item, Args args) {
  Transaction& transaction = client.transaction;
  QueuedCommand queued{&item, {}};
  for (const std::string_view arg : args) {
    queued.args.emplace_back(arg);
    transaction.queued_bytes += arg.size() + sizeof(std::string);
  }
  if (transaction.queued_bytes > kMaxQueuedBytes) {
    Reject(client, &item, "ERR the transaction is too large");
    return;
  }
  transaction.flags |= item.command->flags;
  transaction.queue.push_back(std::move(queued));
  client.reply.Status("QUEUED");
}

std::string Dispatcher::ScriptRefusal(const Client& caller, const CommandTable::Item* item,
                                      Args args, const ScriptRights& rights) const {
  const bool lacks_subcommand =
      item != nullptr && !item->command->subcommands.empty() && args.size() > 1;
  if (item == nullptr || lacks_subcommand) return "ERR Unknown Redis command called from script";
  const Command& command = *item->command;
  if (!ArityFits(command, args.size())) {
    return StrCat("ERR Wrong number of args calling Redis command from script", UsageHint(*item));
  }
  if ((command.flags & kNoScript) != 0) return "ERR This Redis command is not allowed from script";
  const AclVerdict verdict = server_.guard.Check(caller, *item, args, "lua");
  if (verdict.denial != AclDenial::kNone) return std::string(ScriptDenial(verdict.denial));
  if ((command.flags & kWrite) == 0) return {};
  if (!rights.write) return "ERR Write commands are not allowed from read-only scripts.";
  std::string refusal = WriteRefusal(*server_.persistence, server_.config);
  if (!refusal.empty()) return refusal;
  if (server_.effects.block_is_full()) {
    return "OOM The effects of this script are too large for the log";
  }
  const bool lacks_memory = (command.flags & kDenyOom) != 0 && server_.evictor.out_of_memory();
  return lacks_memory && !rights.exceed_memory ? std::string(kOutOfMemoryError) : std::string();
}

void Dispatcher::RunFromScript(Client& client, const Client& caller, Args args,
                               ScriptRights& rights) {
  const CommandTable::Item* item = server_.commands.Resolve(args);
  const std::string refusal = ScriptRefusal(caller, item, args, rights);
  if (!refusal.empty()) return client.reply.Error(refusal);
  rights.exceed_memory |= (item->command->flags & kWrite) != 0;
  Run(client, *item, args);
}

void Dispatcher::Run(Client& client, const CommandTable::Item& item, Args args) {
  RunAs(Purpose::kRequest, client, item, args);
}

void Dispatcher::Replay(Client& client, const CommandTable::Item& item, Args args) {
  RunAs(Purpose::kReplay, client, item, args);
}

void Dispatcher::RunAs(Purpose purpose, Client& client, const CommandTable::Item& item, Args args) {
  const size_t reply_begin = client.output.size();
  const int64_t begin = last_micros_;
  ServerContext context(server_.host, server_.admin, client,
                        {.item = item,
                         .args = args,
                         .database = client.database,
                         .now = server_.clock.now_ms(),
                         .replaying = purpose == Purpose::kReplay,
                         .fetched = client.fetched_command == &item,
                         .request = client.request});
  if (const Handler handler = item.command->handler; handler.needs_server()) {
    handler.RunInServer(context);
  } else {
    handler.Run(context);
  }
  if (context.changes() > 0 || context.logged()) NoteChange(context);
  if (purpose == Purpose::kReplay) return;
  last_micros_ = Clock::MonotonicMicros();
  Account(client, item, args, reply_begin, last_micros_ - begin);
  if ((item.command->flags & (kSkipMonitor | kAdmin)) == 0) {
    FeedMonitors(server_.clients, server_.clock, client, args);
  }
  if (client.taken_request.size() > 0) [[unlikely]]
    client.taken_request = {};
}

void Dispatcher::NoteChange(ServerContext& context) {
  server_.stats.changes_since_save += context.changes();
  context.client.wrote = true;
  if (context.logged() || context.replaying) return;
  server_.effects.Append(context.database, context.args);
}

void Dispatcher::Account(Client& client, const CommandTable::Item& item, Args args,
                         size_t reply_begin, int64_t micros) {
  Stats& stats = server_.stats;
  ++stats.commands_processed;
  server_.loop.NoteCommand(item.id, micros);
  CommandStats& own = stats.by_command[item.id];
  ++own.calls;
  own.micros += static_cast<uint64_t>(micros);
  own.durations.Add(static_cast<uint64_t>(micros));
  if (client.output.size() > reply_begin && client.output[reply_begin] == '-') [[unlikely]] {
    ++own.failed;
    const std::string error = client.output.Copy(reply_begin + 1, kMaxPrinted);
    stats.CountError(std::string_view(error).substr(0, error.find('\r')));
  }
  // Calls that a script makes are not counted: their time is part of the script's own call, and the
  // keys of that call count. EXEC is not counted either: what it ran has been counted.
  if (server_.hot_keys.active() && client.running && (item.command->flags & kRunsQueue) == 0)
      [[unlikely]] {
    const size_t written = client.output.size();
    server_.hot_keys.Note(*item.command, args, static_cast<uint64_t>(micros),
                          written - std::min(written, reply_begin), server_.clock.now_ms());
  }
  const int64_t slower_than = server_.config.slowlog_log_slower_than;
  if (slower_than >= 0 && micros >= slower_than) [[unlikely]] {
    if ((item.command->flags & kSkipSlowlog) == 0) AddToSlowlog(client, item, args, micros);
  }
  const int64_t threshold_ms = server_.config.latency_monitor_threshold;
  if (threshold_ms > 0 && micros / 1000 >= threshold_ms) [[unlikely]] {
    server_.latency.Add((item.command->flags & kFast) != 0 ? "fast-command" : "command",
                        server_.clock.now_ms() / 1000, micros / 1000);
  }
}

void Dispatcher::AddToSlowlog(const Client& client, const CommandTable::Item& item, Args args,
                              int64_t micros) {
  std::vector<std::string_view> shown(args.begin(), args.end());
  if (const SecretFinder is_secret = item.command->is_secret) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (is_secret(args, i)) shown[i] = "(redacted)";
    }
  }
  server_.slowlog.Add(client, shown, server_.clock.now_ms() / 1000, micros,
                      static_cast<size_t>(server_.config.slowlog_max_len));
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
