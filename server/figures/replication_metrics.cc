// Metrics of replication: the role, the replicas, and how far they are behind.
#include <algorithm>
#include <array>

#include "server/effects/effect_stream.h"
#include "server/figures/metric_groups.h"
#include "server/interfaces/replication.h"

namespace tally::server {
namespace {

void WriteReplicas(const Services& server, MetricsWriter& writer) {
  const ReplicasState state = server.replicas->state();
  std::array<uint64_t, 3> stages{};
  uint64_t lag_bytes = 0;
  int64_t lag_ms = 0;
  for (const ReplicaState& replica : state.replicas) {
    ++stages[static_cast<size_t>(replica.stage)];
    const uint64_t end = server.effects.offset();
    lag_bytes = std::max(lag_bytes, end - std::min(replica.offset, end));
    lag_ms = std::max(lag_ms, replica.silent_ms);
  }
  writer.Gauge("tallyd_replicas", "Replicas, by how far their links have come.");
  writer.Sample({{"stage", "waiting"}}, stages[0]);
  writer.Sample({{"stage", "sending"}}, stages[1]);
  writer.Sample({{"stage", "online"}}, stages[2]);
  writer.Gauge("tallyd_replicas_good", "Replicas that min-replicas-max-lag counts.");
  writer.Sample(state.good_replicas);
  writer.Gauge("tallyd_replica_lag_bytes",
               "Bytes of the stream that the replica which is furthest behind has not "
               "acknowledged.");
  writer.Sample(lag_bytes);
  writer.Gauge("tallyd_replica_silence_seconds",
               "Since the replica that is silent for longest has acknowledged anything.");
  writer.Seconds(static_cast<uint64_t>(std::max<int64_t>(lag_ms, 0)) * 1000);
  writer.Counter("tallyd_replica_syncs", "What replicas have asked for, and got.");
  writer.Sample({{"kind", "full"}}, state.full_syncs);
  writer.Sample({{"kind", "partial"}}, state.partial_syncs);
  writer.Sample({{"kind", "partial-refused"}}, state.refused_partial_syncs);
  writer.Gauge("tallyd_replication_backlog_bytes", "Bytes of the stream that are in memory.");
  writer.Sample(state.backlog_bytes);
}

}  // namespace

void WriteReplicationMetrics(const Services& server, MetricsWriter& writer) {
  const bool is_replica = server.primary->is_replica();
  writer.Gauge("tallyd_replica", "1 while this server follows a primary.");
  writer.Sample(is_replica ? 1 : 0);
  writer.Gauge("tallyd_primary_link_up",
               "1 while the stream of the primary comes; 1 of a primary.");
  writer.Sample(server.primary->link_up() ? 1 : 0);
  writer.Counter("tallyd_replication_offset", "Bytes of the stream of effects.");
  writer.Sample(server.effects.offset());
  WriteReplicas(server, writer);
}

}  // namespace tally::server
