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

constexpr auto kBaseOnly = Rewriter::Snapshot::kBase;

std::string_view StatusOf(const RewriteResults& results) {
  return results.last.ok() ? "ok" : "err";
}

}  // namespace

// Rows of what there is not here are 0: nothing forks, so that no pages are copied, and no rewrite
// waits for another.
void AppendPersistenceInfo(const PersistenceFigures& figures, const PersistenceResults& results,
                           const LogWriter* log, std::string& out) {
  const RewriteResults& saves = results.saves;
  const RewriteResults& rewrites = results.rewrites;
  const bool is_one_kind = &saves == &rewrites;
  const bool saving = figures.rewriting && (is_one_kind || figures.kind != kBaseOnly);
  const bool rewriting = figures.rewriting && (is_one_kind || figures.kind == kBaseOnly);
  Row(out, "loading", figures.loading.has_value() ? 1 : 0);
  if (figures.loading.has_value()) AppendLoading(*figures.loading, out);
  AppendSaving(figures.saving, out);
  Row(out, "rdb_changes_since_last_save", figures.changes_since_save);
  Row(out, "rdb_bgsave_in_progress", saving ? 1 : 0);
  Row(out, "rdb_last_save_time", saves.last_save_ms / 1000);
  Row(out, "rdb_last_bgsave_status", StatusOf(saves));
  Row(out, "rdb_last_bgsave_time_sec", saves.last_seconds);
  Row(out, "rdb_current_bgsave_time_sec", saving ? figures.rewriting_seconds : -1);
  Row(out, "rdb_last_cow_size", 0);
  Row(out, "rdb_saves", saves.saves);
  Row(out, "aof_enabled", log != nullptr ? 1 : 0);
  Row(out, "aof_rewrite_in_progress", rewriting ? 1 : 0);
  Row(out, "aof_rewrite_scheduled", 0);
  Row(out, "aof_last_rewrite_time_sec", rewrites.last_seconds);
  Row(out, "aof_current_rewrite_time_sec", rewriting ? figures.rewriting_seconds : -1);
  Row(out, "aof_last_bgrewrite_status", StatusOf(rewrites));
  Row(out, "aof_rewrite_failures", rewrites.pause.failures());
  Row(out, "aof_last_rewrite_error", std::string(rewrites.last.message()));
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
