// Metrics of the process: clients, network traffic and memory.
#include <algorithm>

#include "core/engine/decisions.h"
#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/config/version.h"
#include "server/figures/metric_groups.h"
#include "server/interfaces/process.h"
#include "server/memory/memory_usage.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/hot_keys.h"
#include "server/state/pubsub.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

void WriteClients(const Services& server, MetricsWriter& writer) {
  const Stats& stats = server.stats;
  writer.Gauge("tallyd_clients", "Clients that are connected.");
  writer.Sample(server.clients.size());
  writer.Gauge("tallyd_clients_limit", "Clients that may be connected at once: maxclients.");
  writer.Sample(static_cast<uint64_t>(server.config.maxclients));
  writer.Counter("tallyd_connections", "Connections that were accepted.");
  writer.Sample(stats.connections_received);
  writer.Counter("tallyd_connections_rejected", "Connections refused, as there were too many.");
  writer.Sample(stats.connections_rejected);
  writer.Counter("tallyd_clients_closed", "Clients whose connections the server has ended.");
  writer.Sample({{"reason", "memory"}}, stats.evicted_clients);
  writer.Sample({{"reason", "input"}}, stats.client_query_limit_disconnections);
  writer.Sample({{"reason", "output"}}, stats.client_output_limit_disconnections);
  writer.Gauge("tallyd_pubsub_subscriptions", "Channels and patterns that somebody listens to.");
  writer.Sample({{"kind", "channel"}}, server.pubsub.channels().size());
  writer.Sample({{"kind", "pattern"}}, server.pubsub.patterns().size());
}

}  // namespace

void WriteProcessMetrics(const Services& server, MetricsWriter& writer) {
  const int64_t now_ms = server.clock.now_ms();
  writer.Gauge("tallyd_build_info", "The version that runs; always 1.");
  writer.Sample({{"version", kTallydVersion}, {"redis_version", kRedisVersion}}, 1);
  writer.Gauge("tallyd_uptime_seconds", "Since the process has started.");
  writer.Sample(
      static_cast<uint64_t>(std::max<int64_t>((now_ms - server.process->started_ms()) / 1000, 0)));
  writer.Counter("tallyd_clock_jumps", "Times that the system's clock was set by more than 2 s.");
  writer.Sample(server.clock.jumps().count);
  writer.Gauge("tallyd_loading", "1 while the data is loaded.");
  writer.Sample(server.loading ? 1 : 0);
  WriteClients(server, writer);
  writer.Counter("tallyd_network_bytes", "Bytes received from clients and sent to them.");
  writer.Sample({{"direction", "in"}}, server.stats.net_input_bytes);
  writer.Sample({{"direction", "out"}}, server.stats.net_output_bytes);
}

void WriteMemoryMetrics(const Services& server, MetricsWriter& writer) {
  const AllocatorUsage allocator = ReadAllocatorUsage();
  uint64_t tables = 0;
  for (size_t i = 0; i < server.engine.databases(); ++i) {
    tables += server.engine.database(i).table_bytes();
  }
  writer.Gauge("tallyd_memory_used_bytes", "In use, as maxmemory counts it.");
  writer.Sample(server.memory.used());
  writer.Gauge("tallyd_memory_peak_bytes", "The most that was in use.");
  writer.Sample(server.memory.peak());
  writer.Gauge("tallyd_memory_limit_bytes", "maxmemory; 0 is no limit.");
  writer.Sample(static_cast<uint64_t>(server.config.maxmemory));
  writer.Gauge("tallyd_memory_resident_bytes", "Pages of the process in memory.");
  writer.Sample(ReadResidentBytes());
  writer.Gauge("tallyd_memory_allocator_bytes",
               "What the allocator has: given out, in pages "
               "that hold any of it, and in all its pages.");
  writer.Sample({{"state", "allocated"}}, allocator.allocated);
  writer.Sample({{"state", "active"}}, allocator.active);
  writer.Sample({{"state", "resident"}}, allocator.resident);
  writer.Gauge("tallyd_memory_part_bytes", "Parts of what is in use that are known exactly.");
  writer.Sample({{"part", "startup"}}, server.memory.startup());
  writer.Sample({{"part", "keys"}}, tables);
  writer.Sample({{"part", "denials"}}, server.engine.decisions().denials().MemoryBytes());
  writer.Sample({{"part", "hot_keys"}}, server.hot_keys.MemoryBytes());
  writer.Gauge("tallyd_reclaim_pending_values", "Deleted values whose memory is not free yet.");
  writer.Sample(server.engine.reclaimer().pending());
}

}  // namespace tally::server
