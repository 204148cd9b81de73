// The section about replication. Its rows keep Redis's words, which Sentinel reads.
#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"
#include "server/figures/figure_list.h"
#include "server/interfaces/replication.h"
#include "server/state/replica_role.h"

namespace tally::server {
namespace {

int64_t SecondsOf(int64_t ms) { return ms < 0 ? -1 : ms / 1000; }

// Of the data of a full sync that is under way.
void ReportSync(const PrimaryState& primary, FigureSink& figures) {
  const uint64_t total = primary.sync_total;
  const uint64_t left = total > primary.sync_read ? total - primary.sync_read : 0;
  figures.Add("master_sync_total_bytes", total);
  figures.Add("master_sync_read_bytes", primary.sync_read);
  figures.Add("master_sync_left_bytes", left);
  figures.AddPercent("master_sync_perc", static_cast<double>(primary.sync_read),
                     static_cast<double>(total));
  figures.Add("master_sync_last_io_seconds_ago", SecondsOf(primary.silent_ms));
}

void ReportPrimary(const Services& server, FigureSink& figures) {
  const PrimaryState primary = server.primary->state();
  const bool is_up = primary.link == PrimaryState::Link::kConnected;
  const bool syncs = primary.link == PrimaryState::Link::kSync;
  figures.Add("role", "slave");
  figures.Add("master_host", primary.host);
  figures.Add("master_port", primary.port);
  figures.Add("master_link_status", is_up ? "up" : "down");
  figures.Add("master_last_io_seconds_ago", is_up ? SecondsOf(primary.silent_ms) : -1);
  figures.Add("master_sync_in_progress", syncs);
  figures.Add("slave_read_repl_offset", primary.read_offset);
  figures.Add("slave_repl_offset", primary.offset);
  if (syncs) ReportSync(primary, figures);
  if (!is_up) figures.Add("master_link_down_since_seconds", SecondsOf(primary.down_ms));
  if (!primary.last_error.empty()) figures.Add("master_link_error", primary.last_error);
  figures.Add("slave_priority", server.config.replica_priority);
  figures.Add("slave_read_only", server.config.replica_read_only);
  figures.Add("replica_announced", server.config.replica_announced);
  figures.Add("replica_unknown_commands", primary.skipped);
  figures.Add("replica_full_syncs", primary.full_syncs);
  figures.Add("replica_partial_syncs", primary.partial_syncs);
}

std::string_view StageWord(ReplicaState::Stage stage) {
  switch (stage) {
    case ReplicaState::Stage::kWaiting:
      return "wait_bgsave";
    case ReplicaState::Stage::kSending:
      return "send_bulk";
    case ReplicaState::Stage::kOnline:
      break;
  }
  return "online";
}

// A row for each, and the one that is furthest behind as metrics.
void ReportReplicas(const Services& server, const ReplicasState& state, FigureSink& figures) {
  std::array<int64_t, 3> stages{};
  uint64_t lag_bytes = 0;
  int64_t silent_ms = 0;
  size_t number = 0;
  const uint64_t end = server.effects.offset();
  for (const ReplicaState& replica : state.replicas) {
    ++stages[static_cast<size_t>(replica.stage)];
    lag_bytes = std::max(lag_bytes, end - std::min(replica.offset, end));
    silent_ms = std::max(silent_ms, replica.silent_ms);
    if (!figures.shows_rows()) continue;
    figures.Add(
        StrCat("slave", number++),
        absl::StrFormat("ip=%s,port=%d,state=%s,offset=%u,lag=%d", replica.ip, replica.port,
                        StageWord(replica.stage), replica.offset, replica.silent_ms / 1000));
  }
  figures.Add("", stages[0], {.metric = "replicas", .labels = {"waiting"}});
  figures.Add("", stages[1], {.metric = "replicas", .labels = {"sending"}});
  figures.Add("", stages[2], {.metric = "replicas", .labels = {"online"}});
  figures.Add("", state.good_replicas, {.metric = "replicas_good"});
  figures.Add("", lag_bytes, {.metric = "replica_lag_bytes", .json = "replication.lag_bytes"});
  figures.Add("", Micros{silent_ms * 1000},
              {.metric = "replica_silence_seconds", .json = "replication.silent_us"});
}

void ReportStream(const Services& server, const ReplicasState& state, FigureSink& figures) {
  const StreamId& id = server.stream_id;
  figures.Add("master_replid", id.id());
  figures.Add("master_replid2", id.previous());
  figures.Add("master_repl_offset", server.effects.offset(),
              {.metric = "replication_offset", .json = "replication.offset"});
  figures.Add("second_repl_offset",
              id.has_previous() ? static_cast<int64_t>(id.previous_end()) + 1 : int64_t{-1});
  figures.Add("repl_backlog_active", state.has_backlog);
  figures.Add("repl_backlog_size", server.config.repl_backlog_size);
  figures.Add("repl_backlog_first_byte_offset",
              state.has_backlog ? state.backlog_begin + 1 : uint64_t{0});
  figures.Add("repl_backlog_histlen", state.backlog_bytes, {.metric = "replication_backlog_bytes"});
  figures.Add("", state.full_syncs, {.metric = "replica_syncs", .labels = {"full"}});
  figures.Add("", state.partial_syncs, {.metric = "replica_syncs", .labels = {"partial"}});
  figures.Add("", state.refused_partial_syncs,
              {.metric = "replica_syncs", .labels = {"partial-refused"}});
}

}  // namespace

void ReportReplication(const Services& server, FigureSink& figures) {
  const ReplicasState state = server.replicas->state();
  const bool is_replica = server.role.is_replica;
  is_replica ? ReportPrimary(server, figures) : figures.Add("role", "master");
  figures.Add("", is_replica, {.metric = "replica", .json = "replication.is_replica"});
  figures.Add("", !is_replica || server.role.link_up,
              {.metric = "primary_link_up", .json = "replication.link_up"});
  figures.Add("connected_slaves", state.replicas.size(), {.json = "replication.replicas"});
  if (server.config.min_replicas_to_write > 0 && server.config.min_replicas_max_lag > 0) {
    figures.Add("min_slaves_good_slaves", state.good_replicas);
  }
  ReportReplicas(server, state, figures);
  figures.Add("master_failover_state", state.failover);
  ReportStream(server, state, figures);
}

}  // namespace tally::server
