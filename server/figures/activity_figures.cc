// Figures of what the server has done: files, requests, commands, errors.
#include <absl/strings/str_format.h>

#include "core/bytes/str_cat.h"
#include "server/command/command_host.h"
#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/config/directive.h"
#include "server/figures/figure_list.h"
#include "server/interfaces/persistence.h"
#include "server/state/key_tracking.h"
#include "server/state/pubsub.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

std::string KibPerSecond(const RateMeter& rate) {
  return absl::StrFormat("%.2f", static_cast<double>(rate.per_second()) / 1024);
}

std::string CallsText(const CommandStats& stats) {
  const double per_call =
      stats.calls == 0 ? 0 : static_cast<double>(stats.micros) / static_cast<double>(stats.calls);
  return absl::StrFormat("calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
                         stats.calls, stats.micros, per_call, stats.rejected, stats.failed);
}

}  // namespace

void ReportPersistence(const Services& server, FigureSink& figures) {
  figures.Add("", !server.persistence->write_error().ok(),
              {.metric = "persistence_failed", .labels = {"write"}});
  figures.Add("", FormatValue(*FindDirective("appendfsync"), server.config),
              {.json = "log.appendfsync"});
  server.persistence->Report(figures);
}

void ReportStats(const Services& server, FigureSink& figures) {
  const Stats& stats = server.stats;
  figures.Add("total_connections_received", stats.connections_received,
              {.metric = "connections", .json = "connections"});
  figures.Add("total_commands_processed", stats.commands_processed,
              {.metric = "commands", .json = "commands"});
  figures.Add("instantaneous_ops_per_sec", stats.operations_rate.per_second());
  figures.Add("total_net_input_bytes", stats.net_input_bytes,
              {.metric = "network_bytes", .labels = {"in"}});
  figures.Add("total_net_output_bytes", stats.net_output_bytes,
              {.metric = "network_bytes", .labels = {"out"}});
  figures.Add("instantaneous_input_kbps", KibPerSecond(stats.input_rate));
  figures.Add("instantaneous_output_kbps", KibPerSecond(stats.output_rate));
  figures.Add("rejected_connections", stats.connections_rejected,
              {.metric = "connections_rejected", .json = "rejected_connections"});
  figures.Add("sync_full", 0);
  figures.Add("sync_partial_ok", 0);
  figures.Add("sync_partial_err", 0);
  figures.Add("expired_keys", stats.expired_keys, {.metric = "expired_keys", .json = "expired"});
  figures.Add("expired_stale_perc", "0.00");
  figures.Add("expired_time_cap_reached_count", 0);
  figures.Add("evicted_keys", stats.evicted_keys, {.metric = "evicted_keys", .json = "evicted"});
  figures.Add("evicted_clients", stats.evicted_clients,
              {.metric = "clients_closed", .labels = {"memory"}});
  figures.Add("keyspace_hits", stats.lookups.hits, {.metric = "lookups", .labels = {"hit"}});
  figures.Add("keyspace_misses", stats.lookups.misses, {.metric = "lookups", .labels = {"miss"}});
  figures.Add("pubsub_channels", server.pubsub.channels().size(),
              {.metric = "pubsub_subscriptions", .labels = {"channel"}});
  figures.Add("pubsub_patterns", server.pubsub.patterns().size(),
              {.metric = "pubsub_subscriptions", .labels = {"pattern"}});
  figures.Add("pubsubshard_channels", server.pubsub.shard_channels().size());
  figures.Add("latest_fork_usec", 0);
  figures.Add("total_forks", 0);
  figures.Add("migrate_cached_sockets", 0);
  figures.Add("slave_expires_tracked_keys", 0);
  figures.Add("tracking_total_keys", server.tracking.keys());
  figures.Add("tracking_total_items", server.tracking.items());
  figures.Add("tracking_total_prefixes", server.tracking.prefixes());
  figures.Add("active_defrag_hits", 0);
  figures.Add("active_defrag_misses", 0);
  figures.Add("active_defrag_key_hits", 0);
  figures.Add("active_defrag_key_misses", 0);
  figures.Add("unexpected_error_replies", 0);
  figures.Add("total_error_replies", stats.error_replies, {.json = "errors"});
  figures.Add("dump_payload_sanitizations", 0);
  figures.Add("total_reads_processed", stats.socket_reads);
  figures.Add("total_writes_processed", stats.socket_writes);
  figures.Add("io_threaded_reads_processed", 0);
  figures.Add("io_threaded_writes_processed", 0);
  figures.Add("client_query_buffer_limit_disconnections", stats.client_query_limit_disconnections,
              {.metric = "clients_closed", .labels = {"input"}});
  figures.Add("client_output_buffer_limit_disconnections", stats.client_output_limit_disconnections,
              {.metric = "clients_closed", .labels = {"output"}});
}

// A server without replicas.
void ReportReplication(const Services& server, FigureSink& figures) {
  figures.Add("role", "master");
  figures.Add("connected_slaves", 0);
  figures.Add("master_failover_state", "no-failover");
  figures.Add("master_replid", server.run_id);
  figures.Add("master_replid2", std::string(40, '0'));
  figures.Add("master_repl_offset", 0);
  figures.Add("second_repl_offset", -1);
  figures.Add("repl_backlog_active", 0);
  figures.Add("repl_backlog_size", 0);
  figures.Add("repl_backlog_first_byte_offset", 0);
  figures.Add("repl_backlog_histlen", 0);
}

// Commands that nobody has called have no rows and no samples.
void ReportCommandStats(const Services& server, FigureSink& figures) {
  for (const CommandEntry& entry : server.commands.entries()) {
    const CommandStats& stats = server.stats.by_command[entry.id];
    if (stats.calls == 0 && stats.rejected == 0) continue;
    const std::string_view name = entry.full_name;
    if (figures.shows_rows()) figures.Add(StrCat("cmdstat_", name), CallsText(stats));
    figures.Add("", Durations{&stats.durations, stats.micros},
                {.metric = "command_duration_seconds", .labels = {name}});
    figures.Add("", stats.failed, {.metric = "command_errors", .labels = {name, "failed"}});
    figures.Add("", stats.rejected, {.metric = "command_errors", .labels = {name, "rejected"}});
  }
}

void ReportErrorStats(const Services& server, FigureSink& figures) {
  for (const auto& [kind, count] : server.stats.errors) {
    figures.Add(StrCat("errorstat_", kind), StrCat("count=", count));
  }
}

void ReportLatencyStats(const Services& server, FigureSink& figures) {
  for (const CommandEntry& entry : server.commands.entries()) {
    const DurationHistogram& durations = server.stats.by_command[entry.id].durations;
    if (durations.count() == 0) continue;
    const auto micros = [&](double fraction) {
      return static_cast<double>(durations.Percentile(fraction));
    };
    figures.Add(
        StrCat("latency_percentiles_usec_", entry.full_name),
        absl::StrFormat("p50=%.3f,p99=%.3f,p99.9=%.3f", micros(0.5), micros(0.99), micros(0.999)));
  }
}

void ReportCluster(const Services&, FigureSink& figures) { figures.Add("cluster_enabled", 0); }

}  // namespace tally::server
