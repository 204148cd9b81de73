// Connects the append-only file to the server: owns the parts that load, log and rewrite, and has
// them work at the start, at each turn's end, in the cron and when a command asks.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/aof/file_system.h"
#include "server/durability/data_files.h"
#include "server/durability/data_replacement.h"
#include "server/durability/effect_log.h"
#include "server/durability/loader.h"
#include "server/durability/move_options.h"
#include "server/durability/persistence_report.h"
#include "server/durability/rewriter.h"
#include "server/durability/save_rules.h"
#include "server/durability/takeover.h"
#include "server/interfaces/persistence.h"
#include "server/interfaces/services.h"

namespace tally::server {

class AofPersistence : public Persistence {
 public:
  AofPersistence(Services& server, FileSystem& files);

  // How data of Redis is taken over. To be called before Open.
  void set_move_options(const MoveOptions& options) { move_options_ = options; }
  // What the log says beside the effects. To be called before Open; null: nothing.
  void set_notes(LogNotes* notes);
  // Opens the files and begins to load them, or the files of Redis that are there instead.
  // LoadSlice must then be called until Services::loading is false.
  absl::Status Open();
  // Loads for about `budget_us`. When all is loaded, opens the log if `appendonly` is yes.
  absl::Status LoadSlice(int64_t budget_us);
  // Begins to replace all data by an RDB; LoadSlice must then be called until replacing() is false.
  // After that, replaced() is the result; see DataReplacement.
  absl::Status BeginReplacing(const std::string& path, const MoveOptions& options);
  bool replacing() const { return replacement_.running(); }
  const absl::Status& replaced() const { return replacement_.result(); }
  // Cancels a running rewrite, then flushes and syncs the log.
  absl::Status Close();

  using RewritePace = Rewriter::Pace;
  // Called at each turn's end: continues a rewrite, and logs the turn's effects as appendfsync
  // says. If it fails, nothing of the turn may be acknowledged.
  absl::Status FlushTurn(RewritePace pace = RewritePace::kShared);
  // Called in the middle of a turn: logs, as FlushTurn does, the effects that come before an
  // unfinished block (see EffectStream::Block).
  absl::Status FlushFinished() { return log_.Flush(); }
  // Called every few dozen milliseconds: recovers a log that failed, or starts a rewrite that is
  // due.
  void Cron();
  // See Rewriter.
  std::optional<int64_t> NextSliceInMicros() { return rewriter_.NextSliceInMicros(); }

  const absl::Status& write_error() const override { return log_.error(); }
  bool accepts_writes() const override;
  absl::Status StartRewrite() override;
  absl::Status StartSave() override;
  bool rewriting() const override { return rewriter_.running(); }
  absl::StatusOr<SyncBase> OpenBase() const override;
  absl::StatusOr<std::unique_ptr<StreamSource>> OpenStream(uint64_t offset) const override;
  absl::Status SaveNow() override;
  absl::Status WriteRdb(RdbRequest request) override;
  absl::StatusOr<SyncBase> TakeRdb(const std::string& path) override;
  void RemoveRdb(const std::string& path) override;
  absl::Status SaveAtEnd() override;
  absl::Status ApplyConfig() override;
  absl::Status Reload() override;
  void Report(FigureSink& figures) const override;
  int64_t last_save_ms() const override {
    return rewriter_.results(rewriter_.saved()).last_save_ms;
  }

 private:
  absl::Status BeginLoading();
  bool is_loading() const {
    return loader_.loading() || takeover_.running() || replacement_.running();
  }
  absl::Status ContinueTakeover(int64_t budget_us);
  void ContinueStream();
  // OK unless the data is being loaded.
  absl::Status CheckLoaded() const;
  // Files that begin or end within a transaction would hold a part of it.
  absl::Status CheckNoTransaction() const;
  // For CONFIG SET appendonly. StartLog also replaces a log that is lost.
  absl::Status StartLog();
  absl::Status StopLog();
  // Writes a whole base before it returns.
  absl::Status SaveBase();
  // Starts the snapshot or rewrite that is due by the rules, if any.
  void SaveIfDue();
  uint64_t bytes_since_base() const;

  Services& server_;
  PersistenceReport report_;
  SaveRules rules_;
  DataFiles files_;
  EffectLog log_;
  Loader loader_;
  Rewriter rewriter_;  // declared after the members that it uses
  MoveOptions move_options_;
  Takeover takeover_;
  DataReplacement replacement_;
};

}  // namespace tally::server
