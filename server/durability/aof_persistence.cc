#include "server/durability/aof_persistence.h"

#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/durability/data_set_aside.h"
#include "server/durability/persistence_figures.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/command_runner.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

AofPersistence::AofPersistence(Services& server, FileSystem& files)
    : server_(server),
      report_(server.log),
      rules_(server.config),
      files_(files, server.config),
      log_(server.config, server.clock, server.effects, files_),
      loader_({server.engine, server.clock, server.commands, *server.runner, files_, report_}),
      rewriter_(server.engine, server.clock, server.stats, files_, log_, report_),
      takeover_({server, files_, loader_, rewriter_, report_}) {
  server.persistence.Fill(*this);
}

absl::Status AofPersistence::Open() {
  rewriter_.ServerStarts();
  if (absl::Status status = takeover_.Begin(move_options_); !status.ok()) return status;
  server_.loading = takeover_.running();
  if (server_.loading || (!server_.config.appendonly && !files_.Exists())) return absl::OkStatus();
  if (absl::Status status = files_.Open(); !status.ok()) return status;
  return BeginLoading();
}

absl::Status AofPersistence::BeginLoading() {
  absl::Status status = loader_.Begin(server_.config.aof_load_truncated);
  server_.loading = loader_.loading();
  return status;
}

// The log begins after the base that was written of the data of Redis.
absl::Status AofPersistence::ContinueTakeover(int64_t budget_us) {
  const auto done = takeover_.Slice(budget_us);
  server_.loading = takeover_.running();
  if (!done.ok() || !*done) return done.status();
  server_.stats.changes_since_save = 0;
  return server_.config.appendonly ? log_.Open(LogPosition{}, 0) : absl::OkStatus();
}

absl::Status AofPersistence::LoadSlice(int64_t budget_us) {
  if (takeover_.running()) return ContinueTakeover(budget_us);
  if (!loader_.loading()) return absl::OkStatus();
  const auto end = loader_.LoadSlice(budget_us);
  if (loader_.loading()) return absl::OkStatus();
  server_.stats.changes_since_save = 0;
  server_.loading = false;
  if (!end.ok()) return end.status();
  const bool opens_log = server_.config.appendonly && !log_.is_on();
  return opens_log ? log_.Open((*end)->position, (*end)->synced) : absl::OkStatus();
}

absl::Status AofPersistence::CheckLoaded() const {
  return is_loading() ? absl::FailedPreconditionError("the data is being loaded")
                      : absl::OkStatus();
}

absl::Status AofPersistence::CheckNoTransaction() const {
  return server_.effects.in_block()
             ? absl::FailedPreconditionError("not allowed inside a transaction")
             : absl::OkStatus();
}

absl::Status AofPersistence::Close() {
  rewriter_.Cancel("the server stops");
  return log_.Close();
}

// The log is flushed last. The rewrite may wait for the disk, and that time must not pass between
// the flush and the acknowledgement.
absl::Status AofPersistence::FlushTurn(RewritePace pace) {
  server_.effects.Deliver();
  rewriter_.TakeTurn(pace);
  return log_.Flush();
}

void AofPersistence::Cron() {
  // The rewriter's worker and the log's writer must not change the directory at the same time.
  if (!write_error().ok() && !rewriter_.changes_files()) {
    log_.Recover([this] { return StartLog(); });
  }
  const bool may_save = !rewriting() && !is_loading() && write_error().ok();
  if (may_save) SaveIfDue();
}

void AofPersistence::SaveIfDue() {
  const RewriteResults& results = rewriter_.results();
  const bool is_retry = results.pause.failures() > 0;
  const int64_t now = server_.clock.steady_ms();
  const uint64_t changes = server_.stats.changes_since_save;
  if (rules_.SnapshotIsDue(results, log_.is_on(), changes, now)) {
    if (!is_retry) report_.ChangesAreDue(changes);
    return rewriter_.StartAutomatic();
  }
  if (!log_.is_on()) return;
  const size_t logs = files_.directory().manifest().logs.size();
  const SaveRules::Log log{logs, files_.base_bytes(), bytes_since_base()};
  if (!rules_.RewriteIsDue(results, log, now)) return;
  if (!is_retry) report_.LogIsDue(log.bytes_since_base);
  rewriter_.StartAutomatic();
}

uint64_t AofPersistence::bytes_since_base() const {
  return log_.is_on() ? files_.BytesSinceBase(log_.writer()->current_size()) : 0;
}

absl::Status AofPersistence::StartRewrite() {
  absl::Status status = CheckLoaded();
  return status.ok() ? rewriter_.Start() : status;
}

absl::Status AofPersistence::SaveNow() {
  absl::Status status = CheckLoaded();
  return status.ok() ? rewriter_.SaveNow() : status;
}

bool AofPersistence::snapshot_failed() const {
  return !rewriter_.results().last.ok() && rules_.OnlySnapshotsKeep(log_.is_on());
}

absl::Status AofPersistence::SaveAtEnd() {
  const bool is_needed = !is_loading() && rules_.OnlySnapshotsKeep(log_.is_on());
  return is_needed ? SaveNow() : absl::OkStatus();
}

absl::Status AofPersistence::ApplyConfig() {
  if (absl::Status status = CheckLoaded(); !status.ok()) return status;
  const bool wanted = server_.config.appendonly;
  if (wanted == log_.is_on()) return log_.ApplyPolicy();
  if (absl::Status status = CheckNoTransaction(); !status.ok()) return status;
  return wanted ? StartLog() : StopLog();
}

// Writes the whole base before the log opens: changes made while it is written would be in no log.
absl::Status AofPersistence::StartLog() {
  rewriter_.Cancel("the log begins after another base");
  if (absl::Status status = SaveNow(); !status.ok()) return status;
  return log_.Open(LogPosition{}, 0);
}

absl::Status AofPersistence::StopLog() {
  rewriter_.Cancel("the log ends");
  return log_.TurnOff();
}

// The data is set aside until the files are loaded to their ends: a record whose checksum is right
// may hold a value that cannot be decoded.
absl::Status AofPersistence::Reload() {
  if (absl::Status status = CheckNoTransaction(); !status.ok()) return status;
  if (absl::Status status = SaveNow(); !status.ok()) return status;
  // SaveNow may have finished a base that was under way: the log must hold all changes since then.
  if (log_.is_on()) {
    if (absl::Status status = log_.FlushAll(); !status.ok()) return status;
  }
  log_.Pause();
  DataSetAside data(server_.engine);
  absl::Status status = BeginLoading();
  if (status.ok()) status = LoadSlice(INT64_MAX);
  if (!status.ok()) data.PutBack();
  log_.Resume();
  return status;
}

void AofPersistence::Report(FigureSink& figures) const {
  PersistenceFigures files;
  files.now_ms = server_.clock.now_ms();
  const LogWriter* log = log_.writer();
  if (log != nullptr && log->stats().last_fsync_ms != 0) {  // of the steady clock
    files.last_fsync_ms = files.now_ms - (server_.clock.steady_ms() - log->stats().last_fsync_ms);
  }
  if (loader_.loading()) files.loading = loader_.figures();
  files.rewriting = rewriting();
  files.rewriting_seconds = rewriter_.running_seconds();
  files.saving = rewriter_.figures();
  files.changes_since_save = server_.stats.changes_since_save;
  files.base_bytes = files_.base_bytes();
  files.bytes_since_base = bytes_since_base();
  ReportFiles(files, rewriter_.results(), log, figures);
}

}  // namespace tally::server
