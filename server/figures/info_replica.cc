// INFO's rows about the primary that this server follows.
#include "server/config/config.h"
#include "server/figures/info_rows.h"
#include "server/interfaces/replication.h"

namespace tally::server {
namespace {

int64_t SecondsOf(int64_t ms) { return ms < 0 ? -1 : ms / 1000; }

// Of the data of a full sync that is under way.
void AddSyncRows(const PrimaryState& primary, InfoRows& rows) {
  const uint64_t total = primary.sync_total;
  const uint64_t left = total > primary.sync_read ? total - primary.sync_read : 0;
  rows.Row("master_sync_total_bytes", total);
  rows.Row("master_sync_read_bytes", primary.sync_read);
  rows.Row("master_sync_left_bytes", left);
  rows.Percent("master_sync_perc", static_cast<double>(primary.sync_read),
               static_cast<double>(total));
  rows.Row("master_sync_last_io_seconds_ago", SecondsOf(primary.silent_ms));
}

}  // namespace

// The words are those of Redis, which Sentinel reads.
bool AddPrimaryRows(const Services& server, InfoRows& rows) {
  if (!server.role.is_replica) return false;
  const PrimaryState primary = server.primary->state();
  const bool is_up = primary.link == PrimaryState::Link::kConnected;
  const bool syncs = primary.link == PrimaryState::Link::kSync;
  rows.Row("role", "slave");
  rows.Row("master_host", primary.host);
  rows.Row("master_port", primary.port);
  rows.Row("master_link_status", is_up ? "up" : "down");
  rows.Row("master_last_io_seconds_ago", is_up ? SecondsOf(primary.silent_ms) : -1);
  rows.Row("master_sync_in_progress", syncs);
  rows.Row("slave_read_repl_offset", primary.read_offset);
  rows.Row("slave_repl_offset", primary.offset);
  if (syncs) AddSyncRows(primary, rows);
  if (!is_up) rows.Row("master_link_down_since_seconds", SecondsOf(primary.down_ms));
  if (!primary.last_error.empty()) rows.Row("master_link_error", primary.last_error);
  rows.Row("slave_priority", server.config.replica_priority);
  rows.Row("slave_read_only", server.config.replica_read_only);
  rows.Row("replica_announced", server.config.replica_announced);
  rows.Row("replica_unknown_commands", primary.skipped);
  rows.Row("replica_full_syncs", primary.full_syncs);
  rows.Row("replica_partial_syncs", primary.partial_syncs);
  return true;
}

}  // namespace tally::server
