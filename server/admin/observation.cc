// SLOWLOG and LATENCY: which calls and events took long.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/command_table.h"
#include "server/command/help.h"
#include "server/config/config.h"
#include "server/state/slowlog.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

void SlowlogGet(ServerContext& context, Services& server) {
  constexpr int64_t kDefaultCount = 10;
  const auto& entries = server.slowlog.entries();
  int64_t wanted = kDefaultCount;
  if (context.args.size() == 3) {
    const auto count =
        context.Int64ArgIn(2, -1, INT64_MAX, "ERR count should be greater than or equal to -1");
    if (!count) return;
    wanted = *count;
  } else if (context.args.size() > 3) {
    return context.reply.Error(StrCat("ERR unknown subcommand or wrong number of arguments for '",
                                      context.args[1], "'. Try SLOWLOG HELP."));
  }
  const auto all = static_cast<int64_t>(entries.size());
  const int64_t shown = wanted == -1 ? all : std::min(wanted, all);
  context.reply.Array(static_cast<size_t>(shown));
  for (int64_t i = 0; i < shown; ++i) {
    const Slowlog::Entry& entry = entries[static_cast<size_t>(i)];
    context.reply.Array(6);
    context.reply.Integer(static_cast<int64_t>(entry.id));
    context.reply.Integer(entry.unix_s);
    context.reply.Integer(entry.micros);
    context.reply.Array(entry.args.size());
    for (const std::string& arg : entry.args) context.reply.Bulk(arg);
    context.reply.Bulk(entry.address);
    context.reply.Bulk(entry.name);
  }
}

void SlowlogLen(ServerContext& context, Services& server) {
  context.reply.Integer(static_cast<int64_t>(server.slowlog.entries().size()));
}

void SlowlogReset(ServerContext& context, Services& server) {
  server.slowlog.Clear();
  context.reply.Ok();
}

void SlowlogHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "GET [<count>]",
      "    Return top <count> entries from the slowlog (default: 10, -1 mean all).",
      "    Entries are made of:",
      "    id, timestamp, time in microseconds, arguments array, client IP and port,",
      "    client name",
      "LEN",
      "    Return the length of the slowlog.",
      "RESET",
      "    Reset the slowlog.",
  };
  ReplyHelp(context, kLines);
}

void LatencyLatest(ServerContext& context, Services& server) {
  const auto& events = server.latency.events();
  context.reply.Array(events.size());
  for (const auto& [name, event] : events) {
    const LatencyLog::Sample& last = event.samples.back();
    context.reply.Array(4);
    context.reply.Bulk(name);
    context.reply.Integer(last.unix_s);
    context.reply.Integer(last.ms);
    context.reply.Integer(event.max_ms);
  }
}

void LatencyHistory(ServerContext& context, Services& server) {
  const auto& events = server.latency.events();
  const auto it = events.find(context.args[2]);
  if (it == events.end()) return context.reply.Array(0);
  context.reply.Array(it->second.samples.size());
  for (const LatencyLog::Sample& sample : it->second.samples) {
    context.reply.Array(2);
    context.reply.Integer(sample.unix_s);
    context.reply.Integer(sample.ms);
  }
}

void LatencyReset(ServerContext& context, Services& server) {
  LatencyLog& latency = server.latency;
  const Args names = context.args.subspan(2);
  size_t reset = names.empty() ? latency.ResetAll() : 0;
  for (const std::string_view name : names) reset += latency.Reset(name) ? 1 : 0;
  context.reply.Integer(static_cast<int64_t>(reset));
}

void AppendEventReport(std::string& text, size_t number, std::string_view name,
                       const LatencyLog::Event& event) {
  const auto count = static_cast<int64_t>(event.samples.size());
  int64_t sum = 0;
  for (const LatencyLog::Sample& sample : event.samples) sum += sample.ms;
  const int64_t average = sum / count;
  int64_t deviation = 0;
  for (const LatencyLog::Sample& sample : event.samples) {
    deviation += std::abs(sample.ms - average);
  }
  StrAppend(text, number, ". ", name, ": ", count, " latency spikes (average ", average,
            "ms, mean deviation ", deviation / count, "ms). Worst all time event ", event.max_ms,
            "ms.\n");
}

void LatencyDoctor(ServerContext& context, Services& server) {
  const auto& events = server.latency.events();
  std::string text;
  if (server.config.latency_monitor_threshold == 0) {
    text =
        "Latency monitoring is disabled. CONFIG SET latency-monitor-threshold <milliseconds> "
        "enables it.\n";
  } else if (events.empty()) {
    text = "No latency spike was observed since the monitoring began.\n";
  } else {
    text = "Latency spikes were observed:\n\n";
    size_t number = 0;
    for (const auto& [name, event] : events) AppendEventReport(text, ++number, name, event);
    text +=
        "\nSLOWLOG GET says which commands are slow. Commands that look at many elements "
        "(KEYS, LRANGE, HGETALL, SMEMBERS, ZRANGE … of large values) hold up all clients.\n";
  }
  context.reply.Verbatim("txt", text);
}

// Replies how many calls took at most each power of two of microseconds; a power at which the count
// does not change is left out.
void ReplyHistogram(ReplyBuilder& reply, const CommandStats& stats) {
  const auto steps = stats.durations.CumulativeByPowers();
  reply.Map(2);
  reply.Bulk("calls");
  reply.Integer(static_cast<int64_t>(stats.calls));
  reply.Bulk("histogram_usec");
  reply.Map(steps.size());
  for (const auto& [micros, count] : steps) {
    reply.Integer(static_cast<int64_t>(micros));
    reply.Integer(static_cast<int64_t>(count));
  }
}

void LatencyHistogram(ServerContext& context, Services& server) {
  const Args names = context.args.subspan(2);
  const size_t mark = context.reply.BeginMap();
  size_t found = 0;
  const auto add = [&](const CommandEntry& entry) {
    const CommandStats& stats = server.stats.by_command[entry.id];
    if (stats.calls == 0) return;
    context.reply.Bulk(entry.full_name);
    ReplyHistogram(context.reply, stats);
    ++found;
  };
  if (names.empty()) {
    for (const CommandEntry& entry : server.commands.entries()) add(entry);
  }
  for (const std::string_view name : names) {
    const CommandEntry* entry = server.commands.FindCallable(name);
    if (entry == nullptr) continue;
    add(*entry);
    // The name of a container means all its subcommands.
    for (size_t i = 1; i <= entry->command->subcommands.size(); ++i) {
      add(server.commands.entries()[entry->id + i]);
    }
  }
  context.reply.EndMap(mark, found);
}

void LatencyHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "DOCTOR",
      "    Return a human readable latency analysis report.",
      "HISTORY <event>",
      "    Return time-latency samples for the <event> class.",
      "LATEST",
      "    Return the latest latency samples for all events.",
      "RESET [<event> ...]",
      "    Reset latency data of one or more <event> classes.",
      "    (default: reset all data for all event classes)",
      "HISTOGRAM [COMMAND ...]",
      "    Return a cumulative distribution of latencies in the format of a histogram for the "
      "specified command names.",
      "    If no commands are specified then all histograms are replied.",
  };
  ReplyHelp(context, kLines);
}

constexpr uint32_t kObserve = kOperator | kAnyTime;
// A script may call these.
constexpr uint32_t kSlowlog = kAdmin | kDangerous | kAnyTime;

constexpr Command kSlowlogCommands[] = {
    {"get", Serve<SlowlogGet>, -2, kSlowlog, kNoKeys, "Returns the slow log's entries.", "2.2.12",
     "[count:int]"},
    {"help", SlowlogHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "6.2.0"},
    {"len", Serve<SlowlogLen>, 2, kSlowlog, kNoKeys,
     "Returns the number of entries in the slow log.", "2.2.12"},
    {"reset", Serve<SlowlogReset>, 2, kSlowlog, kNoKeys, "Clears all entries from the slow log.",
     "2.2.12"},
};

constexpr Command kLatencyCommands[] = {
    {"doctor", Serve<LatencyDoctor>, 2, kObserve, kNoKeys,
     "Returns a human-readable latency analysis report.", "2.8.13"},
    {"help", LatencyHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "2.8.13"},
    {"histogram", Serve<LatencyHistogram>, -2, kObserve, kNoKeys,
     "Returns the cumulative distribution of latencies of commands.", "7.0.0", "[command...]"},
    {"history", Serve<LatencyHistory>, 3, kObserve, kNoKeys,
     "Returns timestamp-latency samples for an event.", "2.8.13", "event"},
    {"latest", Serve<LatencyLatest>, 2, kObserve, kNoKeys,
     "Returns the latest latency samples for all events.", "2.8.13"},
    {"reset", Serve<LatencyReset>, -2, kObserve, kNoKeys, "Resets the latency data for events.",
     "2.8.13", "[event...]"},
};

constexpr Command kObservationCommands[] = {
    {"latency", nullptr, -2, 0, kNoKeys, "A container for latency diagnostics commands.", "2.8.13",
     "", kLatencyCommands},
    {"slowlog", nullptr, -2, 0, kNoKeys, "A container for slow log commands.", "2.2.12", "",
     kSlowlogCommands},
};

}  // namespace

std::span<const Command> ObservationCommands() { return kObservationCommands; }

}  // namespace tally::server
