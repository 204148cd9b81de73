// Ties the append-only file to the server: what is done at the start, at each turn's end, by the
// cron and when a command asks, with the parts that do it.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/aof/file_system.h"
#include "server/persistence/data_files.h"
#include "server/persistence/effect_log.h"
#include "server/persistence/loader.h"
#include "server/persistence/persistence_report.h"
#include "server/persistence/rewriter.h"
#include "server/persistence/save_rules.h"
#include "server/state/command_runner.h"
#include "server/state/persistence.h"
#include "server/state/services.h"

namespace tally::server {

class AofPersistence : public Persistence {
 public:
  // Replay runs the log's commands through `runner`.
  AofPersistence(Services& server, CommandRunner& runner, FileSystem& files);

  // Opens the files. What they hold is loaded by LoadSlice, until Services::loading ends.
  absl::Status Open();
  // Loads for about `budget_us` and, when all is loaded and with `appendonly yes`, opens the log.
  absl::Status LoadSlice(int64_t budget_us);
  // Gives up a rewrite under way, flushes and syncs.
  absl::Status Close();

  using RewritePace = Rewriter::Pace;
  // At each turn's end: goes on with a rewrite, and logs the turn's effects, as appendfsync says.
  // When that fails nothing of the turn may be acknowledged.
  absl::Status FlushTurn(RewritePace pace = RewritePace::kShared);
  // In the middle of a turn: logs as FlushTurn does what was done before the block of effects that
  // has not ended (see EffectStream::Block).
  absl::Status FlushFinished() { return log_.Flush(); }
  // Every few dozen milliseconds.
  void Cron();
  // See Rewriter.
  std::optional<int64_t> NextSliceInMicros() { return rewriter_.NextSliceInMicros(); }
  // See Keyspace::Observer.
  void SaveBeforeChange(size_t database, Keyspace::Segment& segment, std::string_view key,
                        const Keyspace::Entry& entry) {
    rewriter_.SaveBeforeChange(database, segment, key, entry);
  }
  void SaveBeforeValueChange(void* value) { rewriter_.SaveBeforeValueChange(value); }
  bool KeepValue(const void* value) { return rewriter_.KeepValue(value); }

  const absl::Status& write_error() const override { return log_.error(); }
  absl::Status StartRewrite() override;
  bool rewriting() const override { return rewriter_.running(); }
  bool snapshot_failed() const override;
  absl::Status SaveNow() override;
  absl::Status SaveAtEnd() override;
  void BeforeClear(size_t database) override { rewriter_.BeforeClear(database); }
  void BeforeSwap(size_t one, size_t other) override { rewriter_.BeforeSwap(one, other); }
  absl::Status ApplyConfig() override;
  absl::Status Reload() override;
  void AppendInfo(std::string& out) const override;
  PersistenceState State() const override;
  int64_t last_save_ms() const override { return rewriter_.results().last_save_ms; }

 private:
  absl::Status BeginLoading();
  // OK unless the data is being loaded.
  absl::Status CheckLoaded() const;
  // CONFIG SET appendonly.
  absl::Status StartLog();
  absl::Status StopLog();
  // Begins what the rules say is due.
  void SaveIfDue();
  uint64_t bytes_since_base() const;

  Services& server_;
  PersistenceReport report_;
  SaveRules rules_;
  DataFiles files_;
  EffectLog log_;
  Loader loader_;
  Rewriter rewriter_;  // after what it uses
};

}  // namespace tally::server
