#include "server/web/live_figures.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/engine/decisions.h"
#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/config/version.h"
#include "server/figures/figure_history.h"
#include "server/figures/refusal.h"
#include "server/http/json_text.h"
#include "server/interfaces/persistence.h"
#include "server/interfaces/process.h"
#include "server/memory/memory_usage.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/cycle_clock.h"
#include "server/state/loop_stats.h"
#include "server/state/pause.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

// Writes a JSON object member by member. The names are our own and need no escapes.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }

  template <typename Number>
  void Add(std::string_view name, Number value) {
    Name(name);
    StrAppend(out_, value);
  }
  void AddText(std::string_view name, std::string_view text) {
    Name(name);
    AppendJsonText(out_, text);
  }
  // Writes a member's name. The caller must append the value to the text that it returns.
  std::string& Name(std::string_view name) {
    StrAppend(out_, first_ ? "" : ",", "\"", name, "\":");
    first_ = false;
    return out_;
  }
  void End() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

void AddDecisions(const Services& server, JsonObject& all) {
  const Decisions& decisions = server.engine.decisions();
  uint64_t allowed = 0;
  uint64_t denied = 0;
  for (size_t i = 0; i < Decisions::kCommands; ++i) {
    const DecisionCount& count = decisions.by_command(static_cast<Decisions::Command>(i));
    allowed += count.allowed;
    denied += count.denied;
  }
  all.Add("allowed", allowed);
  all.Add("denied", denied);
}

void AddTurns(const Services& server, std::string& out) {
  JsonObject turns(out);
  const Turn longest = server.loop.Longest(CycleMicros());
  turns.Add("longest_us", longest.micros);
  if (longest.micros > 0) {
    turns.Add("longest_ended_ms", longest.ended_ms);
    turns.AddText("longest_part", NameOf(longest.main_part()));
    turns.Add("longest_part_us", longest.parts[static_cast<size_t>(longest.main_part())]);
  }
  if (longest.commands > 0) {
    turns.AddText("slowest_command", server.commands.entries()[longest.slowest].full_name);
    turns.Add("slowest_command_us", longest.slowest_micros);
  }
  turns.End();
}

void AddMemory(const Services& server, std::string& out) {
  JsonObject memory(out);
  memory.Add("used", server.memory.Current());
  memory.Add("resident", ReadResidentBytes());
  memory.Add("peak", server.memory.peak());
  memory.Add("limit", server.config.maxmemory);
  memory.End();
}

void AddKeys(const Services& server, JsonObject& all) {
  size_t keys = 0;
  size_t deadlines = 0;
  std::array<size_t, kTypeCount> by_type{};
  for (size_t i = 0; i < server.engine.databases(); ++i) {
    const Keyspace& keyspace = server.engine.database(i);
    keys += keyspace.size();
    deadlines += keyspace.expires();
    for (int type = 0; type < kTypeCount; ++type) {
      by_type[type] += keyspace.size_of(static_cast<Type>(type));
    }
  }
  all.Add("keys", keys);
  all.Add("deadlines", deadlines);
  JsonObject types(all.Name("types"));
  for (int type = 0; type < kTypeCount; ++type) {
    types.Add(TypeName(static_cast<Type>(type)), by_type[type]);
  }
  types.End();
}

std::string_view NameOf(FsyncPolicy policy) {
  switch (policy) {
    case FsyncPolicy::kAlways:
      return "always";
    case FsyncPolicy::kEverysec:
      return "everysec";
    case FsyncPolicy::kNo:
      break;
  }
  return "no";
}

void AddLog(const Services& server, std::string& out) {
  const PersistenceState state = server.persistence->State();
  JsonObject log(out);
  log.AddText("appendfsync", NameOf(server.config.appendfsync));
  log.Add("last_sync_ms", state.last_fsync_ms);
  log.Add("last_sync_us", state.last_fsync_micros);
  log.Add("pending_bytes", state.pending_bytes);
  log.Add("delayed_syncs", state.delayed_fsyncs);
  log.End();
}

// The kinds are the first words of errors, which scripts may invent.
void AddErrors(const Stats& stats, std::string& out) {
  std::string_view separator = "[";
  for (const auto& [kind, count] : stats.errors) {
    out += separator;
    out += '[';
    AppendJsonText(out, kind);
    StrAppend(out, ",", count, "]");
    separator = ",";
  }
  out += stats.errors.empty() ? "[]" : "]";
}

// Adds each row of INFO persistence as a member with the row's name. Integers become numbers.
void AddPersistence(const Persistence& files, std::string& out) {
  std::string rows;
  files.AppendInfo(rows);
  JsonObject persistence(out);
  for (std::string_view rest = rows; !rest.empty();) {
    const std::string_view row = rest.substr(0, rest.find("\r\n"));
    rest.remove_prefix(std::min(row.size() + 2, rest.size()));
    if (row.empty()) continue;
    const size_t colon = std::min(row.find(':'), row.size() - 1);
    const std::string_view name = row.substr(0, colon);
    const std::string_view value = row.substr(colon + 1);
    if (const auto number = ParseInt64(value)) {
      persistence.Add(name, *number);
    } else {
      persistence.AddText(name, value);
    }
  }
  persistence.End();
}

}  // namespace

std::string LiveFigures(const Services& server) {
  const Stats& stats = server.stats;
  const int64_t now_ms = server.clock.now_ms();
  std::string out;
  JsonObject all(out);
  all.Add("now_ms", now_ms);
  all.AddText("run_id", server.run_id);
  all.AddText("version", kTallydVersion);
  all.Add("uptime_s", std::max<int64_t>((now_ms - server.process->started_ms()) / 1000, 0));
  // Since when the counts that CONFIG RESETSTAT resets are counted.
  all.Add("counted_since_ms", stats.reset_ms != 0 ? stats.reset_ms : server.process->started_ms());
  all.Add("clients", server.clients.size());
  all.Add("connections", stats.connections_received);
  all.Add("commands", stats.commands_processed);
  all.Add("rejected_connections", stats.connections_rejected);
  all.Add("errors", stats.error_replies);
  AddErrors(stats, all.Name("errors_by_kind"));
  all.Add("expired", stats.expired_keys);
  all.Add("evicted", stats.evicted_keys);
  AddDecisions(server, all);
  AddTurns(server, all.Name("turns"));
  AddMemory(server, all.Name("memory"));
  AddKeys(server, all);
  AddPersistence(*server.persistence, all.Name("persistence"));
  AddLog(server, all.Name("log"));
  all.AddText("refusal", Refusal(server));
  if (server.pause.until_ms > now_ms) {
    all.Add("paused_until_ms", server.pause.until_ms);
    all.Add("paused_writes_only", server.pause.writes_only ? 1 : 0);
  }
  server.history.AppendLatest(all.Name("latest"));
  all.End();
  return out;
}

HttpResponse OpenEvents(const HttpCall& call) {
  // The first event is in the response, so that the client need not wait a second for it.
  return {.content_type = "text/event-stream",
          .body = StrCat("retry: 2000\nevent: ", kLiveEvent, "\ndata: ", LiveFigures(call.server),
                         "\n\n"),
          .streams = true};
}

HttpResponse Past(const HttpCall& call) {
  HttpResponse response{.content_type = "application/json"};
  call.server.history.AppendJson(response.body);
  return response;
}

}  // namespace tally::server
