#include "server/durability/persistence_info.h"

#include <string_view>

#include "core/bytes/str_cat.h"
#include "server/durability/progress.h"

namespace tally::server {
namespace {

template <typename Value>
void Row(std::string& out, std::string_view name, const Value& value) {
  StrAppend(out, name, ":", value, "\r\n");
}

uint64_t PercentOf(const Extent& extent) { return Progress::Percent(extent.done, extent.total); }

void AppendLoading(const LoadingFigures& loading, std::string& out) {
  Row(out, "loading_start_time", loading.started_ms / 1000);
  Row(out, "loading_total_bytes", loading.bytes.total);
  Row(out, "loading_loaded_bytes", loading.bytes.done);
  Row(out, "loading_loaded_perc", PercentOf(loading.bytes));
  Row(out, "loading_eta_seconds", loading.seconds_left.value_or(-1));
}

// Redis does not have current_save_perc and current_save_eta_seconds. The latter is -1 while it is
// unknown.
void AppendSaving(const std::optional<SavingFigures>& saving, std::string& out) {
  Row(out, "current_save_keys_processed", saving ? saving->keys.done : 0);
  Row(out, "current_save_keys_total", saving ? saving->keys.total : 0);
  Row(out, "current_save_perc", saving ? PercentOf(saving->extent) : 0);
  Row(out, "current_save_eta_seconds", saving ? saving->seconds_left.value_or(-1) : -1);
}

}  // namespace

// Rows of what there is not here are 0: nothing forks, so that no pages are copied, and no rewrite
// waits for another.
// BGSAVE and BGREWRITEAOF both write a base, so the rdb_ and aof_ rows report the same rewrites.
void AppendPersistenceInfo(const PersistenceFigures& figures, const RewriteResults& results,
                           const LogWriter* log, std::string& out) {
  const std::string_view rewrite_status = results.last.ok() ? "ok" : "err";
  const int rewriting = figures.rewriting ? 1 : 0;
  Row(out, "loading", figures.loading.has_value() ? 1 : 0);
  if (figures.loading.has_value()) AppendLoading(*figures.loading, out);
  AppendSaving(figures.saving, out);
  Row(out, "rdb_changes_since_last_save", figures.changes_since_save);
  Row(out, "rdb_bgsave_in_progress", rewriting);
  Row(out, "rdb_last_save_time", results.last_save_ms / 1000);
  Row(out, "rdb_last_bgsave_status", rewrite_status);
  Row(out, "rdb_last_bgsave_time_sec", results.last_seconds);
  Row(out, "rdb_current_bgsave_time_sec", figures.rewriting_seconds);
  Row(out, "rdb_last_cow_size", 0);
  Row(out, "rdb_saves", results.saves);
  Row(out, "aof_enabled", log != nullptr ? 1 : 0);
  Row(out, "aof_rewrite_in_progress", rewriting);
  Row(out, "aof_rewrite_scheduled", 0);
  Row(out, "aof_last_rewrite_time_sec", results.last_seconds);
  Row(out, "aof_current_rewrite_time_sec", figures.rewriting_seconds);
  Row(out, "aof_last_bgrewrite_status", rewrite_status);
  Row(out, "aof_rewrite_failures", results.pause.failures());
  Row(out, "aof_last_rewrite_error", std::string(results.last.message()));
  Row(out, "aof_last_cow_size", 0);
  Row(out, "module_fork_in_progress", 0);
  Row(out, "module_fork_last_cow_size", 0);
  Row(out, "aof_last_write_status", log == nullptr || log->error().ok() ? "ok" : "err");
  if (log == nullptr) return;
  Row(out, "aof_current_size", figures.base_bytes + figures.bytes_since_base);
  Row(out, "aof_base_size", figures.base_bytes);
  Row(out, "aof_pending_rewrite", 0);
  Row(out, "aof_buffer_length", log->pending_bytes());
  Row(out, "aof_pending_bio_fsync", log->fsync_running() ? 1 : 0);
  Row(out, "aof_delayed_fsync", log->stats().delayed_fsyncs);
}

}  // namespace tally::server
