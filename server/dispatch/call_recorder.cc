#include "server/dispatch/call_recorder.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/config/config.h"
#include "server/resp/reply_reader.h"
#include "server/state/clock.h"
#include "server/state/hot_keys.h"
#include "server/state/loop_stats.h"
#include "server/state/slowlog.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

constexpr size_t kMaxError = 128;  // bytes of a reply in which its error is looked for

}  // namespace

void CallRecorder::Record(const Client& client, const CommandEntry& entry, Args args,
                          size_t reply_begin, int64_t micros) {
  Stats& stats = server_.stats;
  ++stats.commands_processed;
  server_.loop.NoteCommand(entry.id, micros);
  CommandStats& own = stats.by_command[entry.id];
  ++own.calls;
  own.micros += static_cast<uint64_t>(micros);
  NoteWhole(client, entry, args, reply_begin, micros);
}

[[gnu::always_inline]] inline void CallRecorder::NoteWhole(const Client& client,
                                                           const CommandEntry& entry, Args args,
                                                           size_t reply_begin, int64_t micros) {
  server_.stats.by_command[entry.id].durations.Add(static_cast<uint64_t>(micros));
  if (IsError(client.output, reply_begin)) [[unlikely]]
    CountFailure(client, entry, reply_begin);
  if (server_.hot_keys.active()) [[unlikely]]
    NoteHotKeys(client, entry, args, reply_begin, micros);
  const int64_t slower_than_us = server_.config.slowlog_log_slower_than;
  if (slower_than_us >= 0 && micros >= slower_than_us) [[unlikely]] {
    if ((entry.command->flags & kSkipSlowlog) == 0) AddToSlowlog(client, entry, args, micros);
  }
  const int64_t threshold_ms = server_.config.latency_monitor_threshold;
  if (threshold_ms > 0 && micros / 1000 >= threshold_ms) [[unlikely]] {
    server_.latency.Add((entry.command->flags & kFast) != 0 ? "fast-command" : "command",
                        server_.clock.now_ms() / 1000, micros / 1000);
  }
}

void CallRecorder::RecordBlocked(const CommandEntry& entry, int64_t micros) {
  ++server_.stats.commands_processed;
  server_.loop.NoteCommand(entry.id, micros);
  CommandStats& own = server_.stats.by_command[entry.id];
  ++own.calls;
  own.micros += static_cast<uint64_t>(micros);
}

void CallRecorder::RecordAwaited(const Client& client, const BlockedCommand& command, Args args,
                                 size_t reply_begin, int64_t micros) {
  const CommandEntry& entry = *command.entry;
  server_.loop.NoteCommand(entry.id, micros);
  server_.stats.by_command[entry.id].micros += static_cast<uint64_t>(micros);
  NoteWhole(client, entry, args, reply_begin, command.micros + micros);
}

void CallRecorder::CountUnblocked(const CommandEntry& entry, std::string_view error) {
  ++server_.stats.by_command[entry.id].failed;
  if (!error.empty()) server_.stats.CountError(error);
}

void CallRecorder::CountFailure(const Client& client, const CommandEntry& entry,
                                size_t reply_begin) {
  ++server_.stats.by_command[entry.id].failed;
  if (std::exchange(server_.stats.error_is_counted, false)) return;
  server_.stats.CountError(ErrorText(client.output.Copy(reply_begin, kMaxError)));
}

// Calls that a script makes are not counted: their time is part of the script's own call, and the
// keys of that call count. EXEC is not counted either: what it ran has been counted.
void CallRecorder::NoteHotKeys(const Client& client, const CommandEntry& entry, Args args,
                               size_t reply_begin, int64_t micros) {
  if (!client.state.command.running() || (entry.command->flags & kRunsQueue) != 0) return;
  const size_t written = client.output.size();
  server_.hot_keys.Note(*entry.command, args, static_cast<uint64_t>(micros),
                        written - std::min(written, reply_begin), server_.clock.elapsed_ms());
}

void CallRecorder::AddToSlowlog(const Client& client, const CommandEntry& entry, Args args,
                                int64_t micros) {
  std::vector<std::string_view> shown(args.begin(), args.end());
  if (const SecretFinder is_secret = entry.command->is_secret) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (is_secret(args, i)) shown[i] = "(redacted)";
    }
  }
  server_.slowlog.Add(client, shown, server_.clock.now_ms() / 1000, micros,
                      static_cast<size_t>(server_.config.slowlog_max_len));
}

}  // namespace tally::server
