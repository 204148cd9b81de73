// MEMORY: how many bytes keys, clients and the server take.
#include <algorithm>
#include <string>

#include "core/bytes/str_cat.h"
#include "core/engine/decisions.h"
#include "core/engine/engine.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"
#include "server/commands/entry_description.h"
#include "server/config/config.h"
#include "server/figures/figure_sink.h"
#include "server/memory/memory_usage.h"
#include "server/state/client_table.h"
#include "server/state/client_text.h"
#include "server/state/hot_keys.h"

namespace tally::server {
namespace {

void MemoryUsage(ServerContext& context) {
  const Args args = context.args;
  // SAMPLES is checked but has no effect: sizes are known exactly.
  for (size_t i = 3; i < args.size(); i += 2) {
    if (!IsWord(args[i], "samples") || i + 1 == args.size()) {
      return context.reply.Error(kSyntaxError);
    }
    const auto samples = context.Int64Arg(i + 1);
    if (!samples) return;
    if (*samples < 0) return context.reply.Error(kSyntaxError);
  }
  const Keyspace::Entry entry = context.keyspace().Peek(args[2]);
  if (!entry) return context.reply.Null();
  context.reply.Integer(static_cast<int64_t>(BytesOf(entry)));
}

double Share(size_t part, size_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

double Ratio(size_t part, size_t whole) { return Share(part, whole) / 100; }

int64_t Difference(size_t a, size_t b) { return static_cast<int64_t>(a) - static_cast<int64_t>(b); }

// Appends the pairs of a map and counts them.
class MapRows {
 public:
  explicit MapRows(ReplyBuilder& reply) : reply_(reply), mark_(reply.BeginMap()) {}
  void Integer(std::string_view name, int64_t value) {
    Name(name);
    reply_.Integer(value);
  }
  void Size(std::string_view name, size_t value) { Integer(name, static_cast<int64_t>(value)); }
  void Double(std::string_view name, double value) {
    Name(name);
    reply_.Double(value);
  }
  void Name(std::string_view name) {
    reply_.Bulk(name);
    ++rows_;
  }
  void End() { reply_.EndMap(mark_, rows_); }

 private:
  ReplyBuilder& reply_;
  size_t mark_;
  size_t rows_ = 0;
};

void AddDatabaseRows(ServerContext& context, MapRows& rows) {
  for (size_t i = 0; i < context.engine().databases(); ++i) {
    const Keyspace& keyspace = context.engine().database(i);
    if (keyspace.size() == 0) continue;
    rows.Name(StrCat("db.", i));
    MapRows row(context.reply);
    row.Size("overhead.hashtable.main", keyspace.table_bytes());
    row.Integer("overhead.hashtable.expires", 0);  // deadlines are in the records
    row.Integer("overhead.hashtable.slot-to-keys", 0);
    row.End();
  }
}

void MemoryStats(ServerContext& context, Services& server) {
  const size_t used = server.memory.Sample();
  const size_t startup = server.memory.startup();
  const size_t rss = ReadResidentBytes();
  const AllocatorUsage allocator = ReadAllocatorUsage();
  size_t clients = 0;
  server.clients.ForEach([&](const Client& client) { clients += ClientMemory(client); });
  size_t keys = 0;
  for (size_t i = 0; i < context.engine().databases(); ++i)
    keys += context.engine().database(i).size();
  const size_t denials = context.engine().decisions().denials().MemoryBytes();
  const size_t hot_keys = server.hot_keys.MemoryBytes();
  const size_t overhead = std::min(startup + clients + denials + hot_keys, used);
  const size_t dataset = used - overhead;

  MapRows rows(context.reply);
  rows.Size("peak.allocated", server.memory.peak());
  rows.Size("total.allocated", used);
  rows.Size("startup.allocated", startup);
  rows.Integer("replication.backlog", 0);
  rows.Integer("clients.slaves", 0);
  rows.Size("clients.normal", clients);
  rows.Size("denials", denials);
  rows.Size("hot.keys", hot_keys);
  AddDatabaseRows(context, rows);
  rows.Size("overhead.total", overhead);
  rows.Size("keys.count", keys);
  rows.Size("keys.bytes-per-key", keys == 0 ? 0 : dataset / keys);
  rows.Size("dataset.bytes", dataset);
  rows.Double("dataset.percentage", Share(dataset, used - std::min(startup, used)));
  rows.Double("peak.percentage", Share(used, server.memory.peak()));
  rows.Size("allocator.allocated", allocator.allocated);
  rows.Size("allocator.active", allocator.active);
  rows.Size("allocator.resident", allocator.resident);
  rows.Double("allocator-fragmentation.ratio", Ratio(allocator.active, allocator.allocated));
  rows.Integer("allocator-fragmentation.bytes", Difference(allocator.active, allocator.allocated));
  rows.Double("allocator-rss.ratio", Ratio(allocator.resident, allocator.active));
  rows.Integer("allocator-rss.bytes", Difference(allocator.resident, allocator.active));
  rows.Double("rss-overhead.ratio", Ratio(rss, allocator.resident));
  rows.Integer("rss-overhead.bytes", Difference(rss, allocator.resident));
  rows.Double("fragmentation", Ratio(rss, used));
  rows.Integer("fragmentation.bytes", Difference(rss, used));
  rows.End();
}

void MemoryDoctor(ServerContext& context, Services& server) {
  constexpr size_t kLittle = size_t{5} << 20;
  constexpr double kHighRatio = 1.4;
  const size_t used = server.memory.Sample();
  const AllocatorUsage allocator = ReadAllocatorUsage();
  const auto limit = static_cast<size_t>(server.config.maxmemory);
  std::string text;
  if (used < kLittle) {
    text = "There is too little data to tell anything.\n";
  } else {
    if (limit != 0 && used > limit - limit / 10) {
      StrAppend(text, "Memory is nearly at its limit: ", HumanBytes(used), " of ",
                HumanBytes(limit), " (maxmemory).\n");
    }
    if (Ratio(server.memory.peak(), used) > kHighRatio) {
      StrAppend(text,
                "The peak was much higher than the present use: ", HumanBytes(server.memory.peak()),
                " and ", HumanBytes(used), ". MEMORY PURGE gives unused pages back.\n");
    }
    if (Ratio(allocator.active, allocator.allocated) > kHighRatio) {
      StrAppend(text, "The allocator is fragmented: ", HumanBytes(allocator.allocated),
                " of data lie in ", HumanBytes(allocator.active), " of pages.\n");
    }
    if (text.empty()) text = "No memory problem was found.\n";
  }
  context.reply.Verbatim("txt", text);
}

void MemoryPurge(ServerContext& context) {
  PurgeAllocator();
  context.reply.Ok();
}

void MemoryHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "DOCTOR",
      "    Return memory problems reports.",
      "PURGE",
      "    Attempt to purge dirty pages for reclamation by the allocator.",
      "STATS",
      "    Return information about the memory usage of the server.",
      "USAGE <key> [SAMPLES <count>]",
      "    Return memory in bytes used by <key> and its value. Nothing is sampled:",
      "    <count> is accepted and has no effect.",
  };
  ReplyHelp(context, kLines);
}

constexpr KeyRange kSecondWord{2, 2, 1, kLooksAtKey};

constexpr Command kMemorySubcommands[] = {
    {"doctor", Serve<MemoryDoctor>, 2, 0, kNoKeys, "Outputs a memory problems report.", "4.0.0"},
    {"help", MemoryHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "4.0.0"},
    {"purge", MemoryPurge, 2, 0, kNoKeys, "Asks the allocator to release memory.", "4.0.0"},
    {"stats", Serve<MemoryStats>, 2, 0, kNoKeys, "Returns details about memory usage.", "4.0.0"},
    {"usage", MemoryUsage, -3, kReadOnly, kSecondWord, "Estimates the memory usage of a key.",
     "4.0.0", "key#0 [SAMPLES count:int]"},
};

constexpr Command kMemoryCommands[] = {
    {"memory", nullptr, -2, 0, kNoKeys, "A container for memory diagnostics commands.", "4.0.0", "",
     kMemorySubcommands},
};

}  // namespace

std::span<const Command> MemoryCommands() { return kMemoryCommands; }

}  // namespace tally::server
