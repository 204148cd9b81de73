// INFO's section about replication. Its rows keep Redis's words, which Sentinel reads.
#include <absl/strings/str_format.h>

#include <algorithm>
#include <string>

#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"
#include "server/figures/info_rows.h"
#include "server/interfaces/replication.h"

namespace tally::server {
namespace {

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

void AddReplicas(const ReplicasState& state, InfoRows& rows) {
  size_t number = 0;
  for (const ReplicaState& replica : state.replicas) {
    rows.Row(StrCat("slave", number++),
             absl::StrFormat("ip=%s,port=%d,state=%s,offset=%u,lag=%d", replica.ip, replica.port,
                             StageWord(replica.stage), replica.offset, replica.silent_ms / 1000));
  }
}

}  // namespace

void AddReplicationRows(const Services& server, InfoRows& rows) {
  const ReplicasState state = server.replicas->state();
  if (!AddPrimaryRows(server, rows)) rows.Row("role", "master");
  rows.Row("connected_slaves", state.replicas.size());
  if (server.config.min_replicas_to_write > 0 && server.config.min_replicas_max_lag > 0) {
    rows.Row("min_slaves_good_slaves", state.good_replicas);
  }
  AddReplicas(state, rows);
  const StreamId& id = server.stream_id;
  rows.Row("master_failover_state", state.failover);
  rows.Row("master_replid", id.id());
  rows.Row("master_replid2", id.previous());
  rows.Row("master_repl_offset", server.effects.offset());
  rows.Row("second_repl_offset",
           id.has_previous() ? static_cast<int64_t>(id.previous_end()) + 1 : int64_t{-1});
  rows.Row("repl_backlog_active", state.has_backlog);
  rows.Row("repl_backlog_size", server.config.repl_backlog_size);
  rows.Row("repl_backlog_first_byte_offset",
           state.has_backlog ? state.backlog_begin + 1 : uint64_t{0});
  rows.Row("repl_backlog_histlen", state.backlog_bytes);
}

}  // namespace tally::server
