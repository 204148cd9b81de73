#include "server/durability/persistence_figures.h"

#include <algorithm>

#include "server/durability/progress.h"

namespace tally::server {
namespace {

uint64_t PercentOf(const Extent& extent) { return Progress::Percent(extent.done, extent.total); }

void ReportLoading(const std::optional<LoadingFigures>& loading, FigureSink& figures) {
  figures.Add("loading", loading.has_value());
  figures.Add("", loading ? loading->bytes.share() : 1.0, {.metric = "load_progress_ratio"});
  if (!loading.has_value()) return;
  figures.Add("loading_start_time", loading->started_ms / 1000);
  figures.Add("loading_total_bytes", loading->bytes.total);
  figures.Add("loading_loaded_bytes", loading->bytes.done);
  figures.Add("loading_loaded_perc", PercentOf(loading->bytes));
  figures.Add("loading_eta_seconds", loading->seconds_left.value_or(-1));
}

// Redis does not have current_save_perc and current_save_eta_seconds. The latter is -1 while it is
// unknown.
void ReportSaving(const std::optional<SavingFigures>& saving, FigureSink& figures) {
  figures.Add("current_save_keys_processed", saving ? saving->keys.done : 0);
  figures.Add("current_save_keys_total", saving ? saving->keys.total : 0);
  figures.Add("current_save_perc", saving ? PercentOf(saving->extent) : 0);
  figures.Add("", saving ? saving->extent.share() : 0.0, {.metric = "rewrite_progress_ratio"});
  figures.Add("current_save_eta_seconds", saving ? saving->seconds_left.value_or(-1) : -1);
}

// INFO has these rows only while there is a log.
void ReportLog(const PersistenceFigures& files, const LogWriter* log, FigureSink& figures) {
  const auto row = [&](std::string_view name) { return log != nullptr ? name : ""; };
  const LogStats stats = log != nullptr ? log->stats() : LogStats();
  const Micros last_fsync{std::max<int64_t>(stats.last_fsync_took_us, 0)};
  figures.Add(row("aof_current_size"), files.base_bytes + files.bytes_since_base,
              {.metric = "log_size_bytes"});
  figures.Add(row("aof_base_size"), files.base_bytes, {.metric = "base_size_bytes"});
  figures.Add(row("aof_pending_rewrite"), 0);
  figures.Add("", files.last_fsync_ms, {.json = "log.last_sync_ms"});
  figures.Add("", last_fsync, {.metric = "log_last_fsync_seconds", .json = "log.last_sync_us"});
  figures.Add(row("aof_buffer_length"), log != nullptr ? log->pending_bytes() : 0,
              {.metric = "log_pending_bytes", .json = "log.pending_bytes"});
  figures.Add(row("aof_pending_bio_fsync"), log != nullptr && log->fsync_running());
  figures.Add(row("aof_delayed_fsync"), stats.delayed_fsyncs,
              {.metric = "log_delayed_fsyncs", .json = "log.delayed_syncs"});
}

}  // namespace

// Rows of what there is not here are 0: nothing forks, so that no pages are copied, and no rewrite
// waits for another.
// BGSAVE and BGREWRITEAOF both write a base, so the rdb_ and aof_ rows report the same rewrites.
void ReportFiles(const PersistenceFigures& files, const RewriteResults& results,
                 const LogWriter* log, FigureSink& figures) {
  const std::string_view rewrite_status = results.last.ok() ? "ok" : "err";
  ReportLoading(files.loading, figures);
  ReportSaving(files.saving, figures);
  figures.Add("rdb_changes_since_last_save", files.changes_since_save,
              {.metric = "unsaved_changes"});
  figures.Add("rdb_bgsave_in_progress", files.rewriting, {.metric = "rewrite_running"});
  figures.Add("rdb_last_save_time", results.last_save_ms / 1000);
  figures.Add("", (files.now_ms - results.last_save_ms) / 1000,
              {.metric = "last_save_age_seconds"});
  figures.Add("rdb_last_bgsave_status", rewrite_status);
  figures.Add("rdb_last_bgsave_time_sec", results.last_seconds);
  figures.Add("rdb_current_bgsave_time_sec", files.rewriting_seconds);
  figures.Add("rdb_last_cow_size", 0);
  figures.Add("rdb_saves", results.saves, {.metric = "saves"});
  figures.Add("aof_enabled", log != nullptr, {.metric = "log_enabled"});
  figures.Add("aof_rewrite_in_progress", files.rewriting);
  figures.Add("aof_rewrite_scheduled", 0);
  figures.Add("aof_last_rewrite_time_sec", results.last_seconds);
  figures.Add("aof_current_rewrite_time_sec", files.rewriting_seconds);
  figures.Add("aof_last_bgrewrite_status", rewrite_status);
  figures.Add("", !results.last.ok(), {.metric = "persistence_failed", .labels = {"rewrite"}});
  figures.Add("aof_rewrite_failures", results.pause.failures(), {.metric = "rewrite_failures"});
  figures.Add("aof_last_rewrite_error", std::string(results.last.message()));
  figures.Add("aof_last_cow_size", 0);
  figures.Add("module_fork_in_progress", 0);
  figures.Add("module_fork_last_cow_size", 0);
  figures.Add("aof_last_write_status", log == nullptr || log->error().ok() ? "ok" : "err");
  ReportLog(files, log, figures);
}

}  // namespace tally::server
