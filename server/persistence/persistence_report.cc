// What INFO and the log tell of the append-only file.
#include <algorithm>

#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "server/log/log.h"
#include "server/persistence/aof_persistence.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

// Of fewer keys each may be most of the data.
constexpr uint64_t kFewKeys = 1000;

template <typename Value>
void Row(std::string& out, std::string_view name, const Value& value) {
  StrAppend(out, name, ":", value, "\r\n");
}

std::string TimeLeft(std::optional<int64_t> seconds) {
  return seconds.has_value() ? StrCat(", about ", *seconds, " s left") : std::string();
}

}  // namespace

uint64_t AofPersistence::CountKeys() const {
  uint64_t keys = 0;
  for (size_t i = 0; i < server_.engine.databases(); ++i) keys += server_.engine.database(i).size();
  return keys;
}

AofPersistence::Extent AofPersistence::Loaded() const {
  const uint64_t done = loading_->loader->bytes_done();
  return {done, std::max(loading_->loader->bytes_total(), done)};
}

void AofPersistence::ReportLoading() {
  const int64_t now = Clock::MonotonicMicros();
  if (!loading_->progress.ReportDue(now)) return;
  const Extent bytes = Loaded();
  server_.log.Notice("Loading: ", Progress::Percent(bytes.done, bytes.total), "%, ", CountKeys(),
                     " keys",
                     TimeLeft(loading_->progress.SecondsLeft(bytes.done, bytes.total, now)));
}

void AofPersistence::ReportLoaded() const {
  const AofLoader& loader = *loading_->loader;
  if (loader.torn_bytes() > 0) {
    server_.log.Warning("Cutting a torn tail of ", loader.torn_bytes(), " bytes off ",
                        loader.torn_path());
  }
  const int64_t took_us = Clock::MonotonicMicros() - loading_->progress.started_us();
  server_.log.Notice("Loaded ", CountKeys(), " keys from ", loader.bytes_total(), " bytes in ",
                     took_us / 1000, " ms");
}

uint64_t AofPersistence::keys_saved() const {
  return rewrite_->walk != nullptr ? rewrite_->walk->keys_saved() : rewrite_->keys_total;
}

// In keys. In bytes, which the new base is likely to have about as many of as the last one, where
// keys tell little.
AofPersistence::Extent AofPersistence::Saved() const {
  const bool by_bytes = rewrite_->keys_total < kFewKeys && base_bytes_ > 0;
  if (rewrite_->walk == nullptr || !by_bytes) return {keys_saved(), rewrite_->keys_total};
  const uint64_t not_all = base_bytes_ - base_bytes_ / 100;
  return {std::min(rewrite_->writer->bytes(), not_all), base_bytes_};
}

void AofPersistence::ReportSaving() {
  const int64_t now = Clock::MonotonicMicros();
  if (!rewrite_->progress->ReportDue(now)) return;
  const Extent saved = Saved();
  server_.log.Notice("Rewriting: ", Progress::Percent(saved.done, saved.total), "%, ", keys_saved(),
                     " of ", rewrite_->keys_total, " keys, ", rewrite_->writer->bytes(), " bytes",
                     TimeLeft(rewrite_->progress->SecondsLeft(saved.done, saved.total, now)));
}

void AofPersistence::AppendLoadingInfo(std::string& out) const {
  const Extent bytes = Loaded();
  const auto left =
      loading_->progress.SecondsLeft(bytes.done, bytes.total, Clock::MonotonicMicros());
  Row(out, "loading_start_time", loading_->started_ms / 1000);
  Row(out, "loading_total_bytes", bytes.total);
  Row(out, "loading_loaded_bytes", bytes.done);
  Row(out, "loading_loaded_perc", Progress::Percent(bytes.done, bytes.total));
  Row(out, "loading_eta_seconds", left.value_or(-1));
}

// Beside the names of Redis there are current_save_perc and current_save_eta_seconds, which is -1
// while it is not known.
void AofPersistence::AppendSavingInfo(std::string& out) const {
  const bool walking = rewriting() && rewrite_->progress.has_value();
  const Extent saved = walking ? Saved() : Extent{};
  Row(out, "current_save_keys_processed", walking ? keys_saved() : 0);
  Row(out, "current_save_keys_total", walking ? rewrite_->keys_total : 0);
  Row(out, "current_save_perc", walking ? Progress::Percent(saved.done, saved.total) : 0);
  const int64_t now = Clock::MonotonicMicros();
  const auto left = walking ? rewrite_->progress->SecondsLeft(saved.done, saved.total, now)
                            : std::optional<int64_t>();
  Row(out, "current_save_eta_seconds", left.value_or(-1));
}

// A base is what both BGSAVE and BGREWRITEAOF write.
void AofPersistence::AppendInfo(std::string& out) const {
  const std::string_view rewrite_status = last_rewrite_.ok() ? "ok" : "err";
  const int64_t seconds = rewriting() ? (server_.clock.now_ms() - rewrite_->started_ms) / 1000 : -1;
  Row(out, "loading", server_.loading ? 1 : 0);
  if (loading_ != nullptr) AppendLoadingInfo(out);
  AppendSavingInfo(out);
  Row(out, "rdb_changes_since_last_save", server_.stats.changes_since_save);
  Row(out, "rdb_bgsave_in_progress", rewriting() ? 1 : 0);
  Row(out, "rdb_last_save_time", last_save_ms_ / 1000);
  Row(out, "rdb_last_bgsave_status", rewrite_status);
  Row(out, "rdb_last_bgsave_time_sec", last_rewrite_seconds_);
  Row(out, "rdb_current_bgsave_time_sec", seconds);
  Row(out, "rdb_saves", saves_);
  Row(out, "aof_enabled", writer_ != nullptr ? 1 : 0);
  Row(out, "aof_rewrite_in_progress", rewriting() ? 1 : 0);
  Row(out, "aof_rewrite_scheduled", 0);
  Row(out, "aof_last_rewrite_time_sec", last_rewrite_seconds_);
  Row(out, "aof_current_rewrite_time_sec", seconds);
  Row(out, "aof_last_bgrewrite_status", rewrite_status);
  Row(out, "aof_rewrite_failures", rewrite_pause_.failures());
  Row(out, "aof_last_rewrite_error", std::string(last_rewrite_.message()));
  Row(out, "aof_last_write_status", write_error().ok() ? "ok" : "err");
  if (writer_ == nullptr) return;
  Row(out, "aof_current_size", base_bytes_ + bytes_since_base());
  Row(out, "aof_base_size", base_bytes_);
  Row(out, "aof_buffer_length", writer_->pending_bytes());
  Row(out, "aof_pending_bio_fsync", writer_->fsync_running() ? 1 : 0);
  Row(out, "aof_delayed_fsync", writer_->stats().delayed_fsyncs);
}

}  // namespace tally::server
