// INFO's sections about what the server has done and what it holds.
#include <absl/strings/str_format.h>

#include "core/engine/engine.h"
#include "server/command/command_host.h"
#include "server/command/command_table.h"
#include "server/figures/info_rows.h"
#include "server/interfaces/persistence.h"
#include "server/state/clock.h"
#include "server/state/key_tracking.h"
#include "server/state/pubsub.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

std::string KibPerSecond(const RateMeter& rate) {
  return absl::StrFormat("%.2f", static_cast<double>(rate.per_second()) / 1024);
}

}  // namespace

void AddPersistenceRows(const Services& server, InfoRows& rows) {
  server.persistence->AppendInfo(rows.out());
}

void AddStatsRows(const Services& server, InfoRows& rows) {
  const Stats& stats = server.stats;
  rows.Row("total_connections_received", stats.connections_received);
  rows.Row("total_commands_processed", stats.commands_processed);
  rows.Row("instantaneous_ops_per_sec", stats.operations_rate.per_second());
  rows.Row("total_net_input_bytes", stats.net_input_bytes);
  rows.Row("total_net_output_bytes", stats.net_output_bytes);
  rows.Row("instantaneous_input_kbps", KibPerSecond(stats.input_rate));
  rows.Row("instantaneous_output_kbps", KibPerSecond(stats.output_rate));
  rows.Row("rejected_connections", stats.connections_rejected);
  rows.Row("sync_full", 0);
  rows.Row("sync_partial_ok", 0);
  rows.Row("sync_partial_err", 0);
  rows.Row("expired_keys", stats.expired_keys);
  rows.Row("expired_stale_perc", "0.00");
  rows.Row("expired_time_cap_reached_count", 0);
  rows.Row("evicted_keys", stats.evicted_keys);
  rows.Row("evicted_clients", stats.evicted_clients);
  rows.Row("keyspace_hits", stats.lookups.hits);
  rows.Row("keyspace_misses", stats.lookups.misses);
  rows.Row("pubsub_channels", server.pubsub.channels().size());
  rows.Row("pubsub_patterns", server.pubsub.patterns().size());
  rows.Row("pubsubshard_channels", server.pubsub.shard_channels().size());
  rows.Row("latest_fork_usec", 0);
  rows.Row("total_forks", 0);
  rows.Row("migrate_cached_sockets", 0);
  rows.Row("slave_expires_tracked_keys", 0);
  rows.Row("tracking_total_keys", server.tracking.keys());
  rows.Row("tracking_total_items", server.tracking.items());
  rows.Row("tracking_total_prefixes", server.tracking.prefixes());
  rows.Row("active_defrag_hits", 0);
  rows.Row("active_defrag_misses", 0);
  rows.Row("active_defrag_key_hits", 0);
  rows.Row("active_defrag_key_misses", 0);
  rows.Row("unexpected_error_replies", 0);
  rows.Row("total_error_replies", stats.error_replies);
  rows.Row("dump_payload_sanitizations", 0);
  rows.Row("total_reads_processed", stats.socket_reads);
  rows.Row("total_writes_processed", stats.socket_writes);
  rows.Row("io_threaded_reads_processed", 0);
  rows.Row("io_threaded_writes_processed", 0);
  rows.Row("client_query_buffer_limit_disconnections", stats.client_query_limit_disconnections);
  rows.Row("client_output_buffer_limit_disconnections", stats.client_output_limit_disconnections);
}

// A server without replicas.
void AddReplicationRows(const Services& server, InfoRows& rows) {
  rows.Row("role", "master");
  rows.Row("connected_slaves", 0);
  rows.Row("master_failover_state", "no-failover");
  rows.Row("master_replid", server.run_id);
  rows.Row("master_replid2", std::string(40, '0'));
  rows.Row("master_repl_offset", 0);
  rows.Row("second_repl_offset", -1);
  rows.Row("repl_backlog_active", 0);
  rows.Row("repl_backlog_size", 0);
  rows.Row("repl_backlog_first_byte_offset", 0);
  rows.Row("repl_backlog_histlen", 0);
}

void AddModulesRows(const Services&, InfoRows&) {}

void AddCommandStatsRows(const Services& server, InfoRows& rows) {
  for (const CommandEntry& item : server.commands.entries()) {
    const CommandStats& stats = server.stats.by_command[item.id];
    if (stats.calls == 0 && stats.rejected == 0) continue;
    const double per_call =
        stats.calls == 0 ? 0 : static_cast<double>(stats.micros) / static_cast<double>(stats.calls);
    rows.Row(StrCat("cmdstat_", item.full_name),
             absl::StrFormat("calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,"
                             "failed_calls=%d",
                             stats.calls, stats.micros, per_call, stats.rejected, stats.failed));
  }
}

void AddErrorStatsRows(const Services& server, InfoRows& rows) {
  for (const auto& [kind, count] : server.stats.errors) {
    rows.Row(StrCat("errorstat_", kind), StrCat("count=", count));
  }
}

void AddLatencyStatsRows(const Services& server, InfoRows& rows) {
  for (const CommandEntry& item : server.commands.entries()) {
    const DurationHistogram& durations = server.stats.by_command[item.id].durations;
    if (durations.count() == 0) continue;
    const auto micros = [&](double fraction) {
      return static_cast<double>(durations.Percentile(fraction));
    };
    rows.Row(
        StrCat("latency_percentiles_usec_", item.full_name),
        absl::StrFormat("p50=%.3f,p99=%.3f,p99.9=%.3f", micros(0.5), micros(0.99), micros(0.999)));
  }
}

void AddClusterRows(const Services&, InfoRows& rows) { rows.Row("cluster_enabled", 0); }

// Returns the average time in ms that keys with a deadline still live, from a sample of keys.
int64_t SampledTtl(const Services& server, const Keyspace& keyspace) {
  constexpr int kSamples = 64;
  const int64_t now = server.clock.now_ms();
  int64_t average = 0;
  int64_t found = 0;
  for (int i = 0; i < kSamples && keyspace.expires() > 0; ++i) {
    const Keyspace::Entry entry = keyspace.Sample(server.host.random());
    if (entry.deadline() == kNoDeadline || entry.expired(now)) continue;
    average += (entry.deadline() - now - average) / ++found;
  }
  return average;
}

void AddKeyspaceRows(const Services& server, InfoRows& rows) {
  for (size_t i = 0; i < server.engine.databases(); ++i) {
    const Keyspace& keyspace = server.engine.database(i);
    if (keyspace.size() == 0) continue;
    rows.Row(StrCat("db", i), StrCat("keys=", keyspace.size(), ",expires=", keyspace.expires(),
                                     ",avg_ttl=", SampledTtl(server, keyspace)));
  }
}

}  // namespace tally::server
