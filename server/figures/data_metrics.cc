// Metrics of the data: keys by type and database, expiry and eviction, and the files on disk.
#include <algorithm>

#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "server/figures/metric_groups.h"
#include "server/interfaces/persistence.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

uint64_t KeysOf(const Engine& engine, Type type) {
  uint64_t keys = 0;
  for (size_t i = 0; i < engine.databases(); ++i) keys += engine.database(i).size_of(type);
  return keys;
}

// Writes a sample for each of the first databases that have keys, and their sum for all further
// ones. There may be 65,536 databases, and each label is a time series.
template <typename Count>
void WriteDatabases(const Engine& engine, MetricsWriter& writer, Count&& count) {
  constexpr size_t kMostLabels = 100;
  size_t labels = 0;
  uint64_t others = 0;
  for (size_t i = 0; i < engine.databases(); ++i) {
    const Keyspace& database = engine.database(i);
    if (database.size() == 0) continue;
    if (++labels <= kMostLabels) {
      writer.Sample({{"database", StrCat(i)}}, count(database));
    } else {
      others += count(database);
    }
  }
  if (labels > kMostLabels) writer.Sample({{"database", "other"}}, others);
}

void WriteByDatabase(const Engine& engine, MetricsWriter& writer) {
  writer.Gauge("tallyd_database_keys", "Keys by database.");
  WriteDatabases(engine, writer, [](const Keyspace& database) { return database.size(); });
  writer.Gauge("tallyd_database_expiring_keys", "Keys with a deadline, by database.");
  WriteDatabases(engine, writer, [](const Keyspace& database) { return database.expires(); });
}

void WriteKeys(const Engine& engine, MetricsWriter& writer) {
  writer.Gauge("tallyd_keys", "Keys by the type of their values.");
  for (int i = 0; i < kTypeCount; ++i) {
    const auto type = static_cast<Type>(i);
    writer.Sample({{"type", TypeName(type)}}, KeysOf(engine, type));
  }
  WriteByDatabase(engine, writer);
  writer.Gauge("tallyd_quota_books", "Quota books.");
  writer.Sample(KeysOf(engine, Type::kQuota));
  writer.Gauge("tallyd_audiences", "Audiences: the keys of ACTIVE.");
  writer.Sample(KeysOf(engine, Type::kActive));
}

void WriteRewrite(const PersistenceState& state, int64_t now_ms, MetricsWriter& writer) {
  writer.Gauge("tallyd_rewrite_running", "1 while a new base is written.");
  writer.Sample(state.rewriting ? 1 : 0);
  writer.Gauge("tallyd_rewrite_progress_ratio", "How much of the new base is done, 0 to 1.");
  writer.Ratio(state.rewrite_done);
  writer.Gauge("tallyd_rewrite_failures", "Rewrites that have failed since the last good one.");
  writer.Sample(state.rewrite_failures);
  writer.Counter("tallyd_saves", "Bases that were completed.");
  writer.Sample(state.saves);
  writer.Gauge("tallyd_last_save_age_seconds", "Since the last base, or since the start.");
  writer.Sample(static_cast<uint64_t>(std::max<int64_t>((now_ms - state.last_save_ms) / 1000, 0)));
}

}  // namespace

void WriteKeyspaceMetrics(const Services& server, MetricsWriter& writer) {
  const Engine& engine = server.engine;
  const Stats& stats = server.stats;
  WriteKeys(engine, writer);
  writer.Counter("tallyd_lookups", "Keys that reading commands looked for.");
  writer.Sample({{"result", "hit"}}, stats.lookups.hits);
  writer.Sample({{"result", "miss"}}, stats.lookups.misses);
  writer.Counter("tallyd_expired_keys", "Keys that ended by their deadlines.");
  writer.Sample(stats.expired_keys);
  writer.Counter("tallyd_evicted_keys", "Keys that were evicted for maxmemory.");
  writer.Sample(stats.evicted_keys);
  int64_t lag_ms = 0;
  for (size_t i = 0; i < engine.databases(); ++i) {
    lag_ms = std::max(lag_ms, engine.database(i).expiry_lag_ms(server.clock.now_ms()));
  }
  writer.Gauge("tallyd_expiry_lag_seconds", "How long keys have been due that are still there.");
  writer.Seconds(static_cast<uint64_t>(lag_ms) * 1000);
}

void WritePersistenceMetrics(const Services& server, MetricsWriter& writer) {
  const PersistenceState state = server.persistence->State();
  writer.Gauge("tallyd_log_enabled", "1 while the append-only log is on.");
  writer.Sample(state.log_on ? 1 : 0);
  writer.Gauge("tallyd_persistence_failed",
               "1 after an operation on the files has failed, until "
               "it succeeds.");
  writer.Sample({{"operation", "write"}}, server.persistence->write_error().ok() ? 0 : 1);
  writer.Sample({{"operation", "rewrite"}}, state.rewrite_failed ? 1 : 0);
  writer.Gauge("tallyd_log_size_bytes", "Of the base and the logs after it.");
  writer.Sample(state.log_bytes);
  writer.Gauge("tallyd_base_size_bytes", "Of the base.");
  writer.Sample(state.base_bytes);
  writer.Gauge("tallyd_log_pending_bytes", "Logged, and not known to be on disk.");
  writer.Sample(state.pending_bytes);
  writer.Gauge("tallyd_log_last_fsync_seconds", "How long the last fsync of the log took.");
  writer.Seconds(static_cast<uint64_t>(std::max<int64_t>(state.last_fsync_micros, 0)));
  writer.Counter("tallyd_log_delayed_fsyncs", "How often writers had to wait for a slow disk.");
  writer.Sample(state.delayed_fsyncs);
  writer.Gauge("tallyd_unsaved_changes", "Changes since the last base.");
  writer.Sample(server.stats.changes_since_save);
  writer.Gauge("tallyd_load_progress_ratio", "How much of the data is loaded, 0 to 1.");
  writer.Ratio(server.loading ? state.load_done : 1);
  WriteRewrite(state, server.clock.now_ms(), writer);
}

}  // namespace tally::server
