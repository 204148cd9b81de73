#include "server/durability/aof_persistence.h"

#include <algorithm>

#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/durability/data_set_aside.h"
#include "server/durability/log_stream.h"
#include "server/durability/persistence_figures.h"
#include "server/durability/rdb_save.h"
#include "server/durability/sync_base_file.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"
#include "server/interfaces/command_runner.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

using Snapshot = Rewriter::Snapshot;

AofPersistence::AofPersistence(Services& server, FileSystem& files)
    : server_(server),
      report_(server.log),
      rules_(server.config),
      files_(files, server.config),
      log_(server.config, server.clock, server.effects, files_),
      loader_({server.engine, server.clock, server.commands, *server.runner, files_, report_}),
      rewriter_(server.engine, server.config, server.clock, server.stats, files_, log_, report_),
      takeover_({server, files_, loader_, rewriter_, report_}),
      replacement_({server, files_, log_, loader_, rewriter_}) {
  server.persistence.Fill(*this);
  log_.set_stream_id(server.stream_id);
}

void AofPersistence::set_notes(LogNotes* notes) {
  log_.set_notes(notes);
  loader_.set_notes(notes);
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
  if (replacement_.running()) {
    replacement_.Slice(budget_us);
    server_.loading = replacement_.running();
    return absl::OkStatus();
  }
  if (!loader_.loading()) return absl::OkStatus();
  const auto end = loader_.LoadSlice(budget_us);
  if (loader_.loading()) return absl::OkStatus();
  server_.stats.changes_since_save = 0;
  server_.loading = false;
  if (!end.ok()) return end.status();
  if (!log_.is_on()) ContinueStream();
  const bool opens_log = server_.config.appendonly && !log_.is_on();
  return opens_log ? log_.Open((*end)->position, (*end)->synced) : absl::OkStatus();
}

// The stream goes on where an earlier process has left it.
void AofPersistence::ContinueStream() {
  const auto& stream = loader_.stream();
  if (!stream) return;
  server_.stream_id.Adopt(stream->end.id);
  server_.effects.set_offset(stream->end.offset);
  if (files_.directory().manifest().base) {
    rewriter_.set_base_place({stream->end.id, stream->begin});
  }
}

absl::Status AofPersistence::BeginReplacing(const std::string& path, const MoveOptions& options) {
  if (absl::Status status = CheckLoaded(); !status.ok()) return status;
  if (absl::Status status = CheckNoTransaction(); !status.ok()) return status;
  absl::Status status = replacement_.Begin(path, options);
  server_.loading = replacement_.running();
  return status;
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
    log_.Recover([this] { return is_loading() ? CheckLoaded() : StartLog(); });
  }
  const bool may_save = !rewriting() && !is_loading() && write_error().ok();
  if (may_save) SaveIfDue();
}

void AofPersistence::SaveIfDue() {
  const int64_t now_ms = server_.clock.steady_ms();
  const uint64_t changes = server_.stats.changes_since_save;
  const RewriteResults& saves = rewriter_.results(rewriter_.saved());
  if (rules_.SnapshotIsDue(saves, log_.is_on(), changes, now_ms)) {
    if (saves.pause.failures() == 0) report_.ChangesAreDue(changes);
    return rewriter_.StartAutomatic(rewriter_.saved());
  }
  if (!log_.is_on()) return;
  const size_t logs = files_.directory().manifest().logs.size();
  const SaveRules::Log log{logs, files_.base_bytes(), bytes_since_base()};
  const RewriteResults& results = rewriter_.results(Snapshot::kBase);
  if (!rules_.RewriteIsDue(results, log, now_ms)) return;
  if (results.pause.failures() == 0) report_.LogIsDue(log.bytes_since_base);
  rewriter_.StartAutomatic(Snapshot::kBase);
}

uint64_t AofPersistence::bytes_since_base() const {
  return log_.is_on() ? files_.BytesSinceBase(log_.writer()->current_size()) : 0;
}

absl::Status AofPersistence::StartRewrite() {
  absl::Status status = CheckLoaded();
  return status.ok() ? rewriter_.Start(Snapshot::kBase) : status;
}

absl::Status AofPersistence::StartSave() {
  absl::Status status = CheckLoaded();
  return status.ok() ? rewriter_.Start(rewriter_.saved()) : status;
}

absl::Status AofPersistence::SaveNow() {
  absl::Status status = CheckLoaded();
  return status.ok() ? rewriter_.SaveNow(rewriter_.saved()) : status;
}

absl::Status AofPersistence::SaveBase() {
  absl::Status status = CheckLoaded();
  return status.ok() ? rewriter_.SaveNow(Snapshot::kBase) : status;
}

absl::Status AofPersistence::WriteRdb(RdbRequest request) {
  absl::Status status = CheckLoaded();
  if (status.ok()) rewriter_.Request(std::move(request));
  return status;
}

absl::StatusOr<SyncBase> AofPersistence::TakeRdb(const std::string& path) {
  auto opened = OpenSyncBase(files_.system(), path, {}, 0);
  const absl::Status removed = files_.system().Remove(path);
  if (opened.ok() && !removed.ok()) return removed;
  return opened;
}

void AofPersistence::RemoveRdb(const std::string& path) {
  files_.system().Remove(path).IgnoreError();
  files_.system().Remove(RdbSave::TemporaryOf(path)).IgnoreError();
}

bool AofPersistence::accepts_writes() const {
  if (!log_.error().ok()) return false;
  const bool snapshot_failed = !rewriter_.results(rewriter_.saved()).last.ok();
  return !snapshot_failed || !server_.config.stop_writes_on_bgsave_error ||
         !rules_.OnlySnapshotsKeep(log_.is_on());
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
  if (absl::Status status = SaveBase(); !status.ok()) return status;
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
  if (absl::Status status = SaveBase(); !status.ok()) return status;
  // SaveBase may have finished a base that was under way: the log must hold all changes since then.
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

absl::StatusOr<std::unique_ptr<StreamSource>> AofPersistence::OpenStream(uint64_t offset) const {
  // What is not written yet would be missing for ever if the log was lost.
  if (!log_.is_on() || log_.lost()) return absl::NotFoundError("no log has the stream");
  return LogStream::Open(files_.directory(), offset);
}

absl::StatusOr<SyncBase> AofPersistence::OpenBase() const {
  const auto& place = rewriter_.base_place();
  if (!place) return absl::NotFoundError("where the base is in the stream is not known");
  // A new base is smaller than what would have to be sent beside this one.
  constexpr uint64_t kMuchLog = uint64_t{64} << 20;
  if (bytes_since_base() > std::max(files_.base_bytes(), kMuchLog)) {
    return absl::NotFoundError("much was logged since the base");
  }
  const AofDirectory& directory = files_.directory();
  const std::string path = directory.PathOf(*directory.manifest().base);
  return OpenSyncBase(files_.system(), path, place->id, place->offset);
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
  files.kind = rewriter_.kind();
  const PersistenceResults results{rewriter_.results(rewriter_.saved()),
                                   rewriter_.results(Snapshot::kBase)};
  ReportFiles(files, results, log, figures);
}

}  // namespace tally::server
