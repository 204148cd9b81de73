// Ties the append-only file to the engine: loads at start, logs each turn's effects, rewrites.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/snapshot/snapshot_walk.h"
#include "server/aof/aof_directory.h"
#include "server/aof/aof_loader.h"
#include "server/aof/base_snapshot.h"
#include "server/aof/file_system.h"
#include "server/aof/log_writer.h"
#include "server/effects/effect_stream.h"
#include "server/persistence/progress.h"
#include "server/persistence/retry_pause.h"
#include "server/state/client.h"
#include "server/state/command_runner.h"
#include "server/state/persistence.h"
#include "server/state/services.h"

namespace tally::server {

class AofPersistence : public Persistence, private EffectSink {
 public:
  // Replay runs the log's commands through `runner`.
  AofPersistence(Services& server, CommandRunner& runner, FileSystem& files);
  ~AofPersistence();

  // Opens the files. What they hold is loaded by LoadSlice, until Services::loading ends.
  absl::Status Open();
  // Loads for about `budget_us` and, when all is loaded and with `appendonly yes`, opens the log.
  absl::Status LoadSlice(int64_t budget_us);
  // Gives up a rewrite under way, flushes and syncs.
  absl::Status Close();

  // How far a turn takes a rewrite: by the time that those who are served leave it, or, for tests
  // that shall be the same each time, one step.
  enum class RewritePace { kShared, kStep };
  // At each turn's end: goes on with a rewrite, and logs the turn's effects, as appendfsync says.
  // When that fails nothing of the turn may be acknowledged.
  absl::Status FlushTurn(RewritePace pace = RewritePace::kShared);
  // In the middle of a turn: logs as FlushTurn does what was done before the block of effects that
  // has not ended (see EffectStream::Block).
  absl::Status FlushFinished();
  // Every few dozen milliseconds.
  void Cron();
  // After how many microseconds a rewrite wants another turn, 0 for at once; nullopt where it waits
  // for the disk, or there is none.
  std::optional<int64_t> NextSliceInMicros();
  // See Keyspace::Observer.
  void SaveBeforeChange(size_t database, Keyspace::Segment& segment, std::string_view key,
                        const Keyspace::Entry& entry);
  void SaveBeforeValueChange(void* value);
  bool KeepValue(const void* value);

  const absl::Status& write_error() const override;
  absl::Status StartRewrite() override;
  bool rewriting() const override { return rewrite_ != nullptr; }
  bool snapshot_failed() const override;
  absl::Status SaveNow() override;
  absl::Status SaveAtEnd() override;
  void BeforeClear(size_t database) override;
  void BeforeSwap(size_t one, size_t other) override;
  absl::Status ApplyConfig() override;
  absl::Status Reload() override;
  void AppendInfo(std::string& out) const override;
  int64_t last_save_ms() const override { return last_save_ms_; }

 private:
  // EffectSink: into the batch of the log that is being written.
  void Receive(uint64_t offset, std::string_view effects) override;

  // A rewrite goes through these in turn. What may take the disk long is done by worker_.
  struct Rewrite {
    enum class Stage {
      kOpening,     // worker_ makes the base's file and the new log
      kSaving,      // the walk writes the base, between the turns
      kSyncing,     // the base's writer waits for the disk
      kPublishing,  // worker_ replaces the old files
      kAbandoning,  // it has failed, and worker_ removes what it has made
    };
    int64_t started_ms = 0;
    Stage stage = Stage::kOpening;
    bool seen_sync = false;     // of the old log, since the files are there
    AofDirectory::NewLog log;   // sequence 0: it begins within the current log
    bool log_in_use = false;    // the writer has gone on in `log`
    uint64_t first_log = 0;     // that continues the base
    int64_t covered_bytes = 0;  // of it, from its start, by the base
    AofDirectory::NewBase base;
    std::unique_ptr<BaseWriter> writer;
    std::unique_ptr<SnapshotWalk> walk;  // in kSaving
    std::optional<Progress> progress;    // of the walk, from its begin on
    uint64_t keys_total = 0;             // when it began
    uint64_t changes = 0;                // since the one before, when it began
  };
  enum class Waiting { kNo, kForTheDisk };

  struct Loading {
    explicit Loading(int64_t now_us) : progress(now_us) {}

    std::unique_ptr<AofLoader> loader;
    Client client;  // who runs what the log holds
    Progress progress;
    int64_t started_ms = 0;
  };

  absl::Status OpenDirectory();
  absl::Status BeginLoading();
  // Reads all files to their ends, and loads nothing.
  absl::Status ExamineFiles() const;
  absl::Status Replay(Client& client, Args args);
  absl::Status OpenLog(const LogPosition& end, uint64_t synced);
  // Tries about once a second to get back to where writes can be acknowledged.
  void Recover();
  // CONFIG SET appendonly.
  absl::Status StartLog();
  absl::Status StopLog();
  // Goes on with the rewrite, through one stage at most.
  void RewriteSlice(int64_t budget_us, Waiting waiting = Waiting::kNo);
  absl::Status AdvanceRewrite(int64_t budget_us, Waiting waiting);
  void GoOnRewriting();
  // Whether a client was served in the last milliseconds.
  bool Serving(int64_t now_us) const;
  // Whether a rule of `save` asks for one now.
  bool SnapshotIsDue() const;
  absl::StatusOr<bool> WorkerDone(Waiting waiting);
  bool MaySwitchLogs();
  absl::Status BeginWalk();
  absl::Status SaveSegments(int64_t budget_us);
  // Where the logs continue the snapshot that begins now.
  absl::StatusOr<LogPosition> BeginOfLogs();
  void FinishRewrite();
  // The next automatic one comes after a pause.
  void FailRewrite(const absl::Status& status);
  // Has worker_ remove what the rewrite under way has made.
  void AbandonRewrite();
  // The same, and waits for it.
  void CancelRewrite(std::string_view why);
  bool RewriteIsDue() const;
  uint64_t bytes_since_base() const;
  // In all databases.
  uint64_t CountKeys() const;

  // To the log and to INFO: see persistence_report.cc.
  struct Extent {
    uint64_t done = 0;
    uint64_t total = 0;
  };
  Extent Loaded() const;
  Extent Saved() const;
  uint64_t keys_saved() const;
  void ReportLoading();
  void ReportLoaded() const;
  void ReportSaving();
  void AppendLoadingInfo(std::string& out) const;
  void AppendSavingInfo(std::string& out) const;

  Services& server_;
  CommandRunner& runner_;
  FileSystem& files_;
  std::unique_ptr<AofDirectory> directory_;
  std::unique_ptr<LogWriter> writer_;  // null with appendonly no
  std::unique_ptr<Loading> loading_;   // null when all is loaded
  std::unique_ptr<Rewrite> rewrite_;
  uint64_t served_commands_ = 0;            // when a slice of a rewrite could last have begun
  int64_t last_served_us_ = INT64_MIN / 2;  // when they had last grown until then
  int64_t next_idle_slice_us_ = 0;          // in a turn without requests
  int64_t next_busy_slice_us_ = 0;          // and in one with some
  absl::Status last_rewrite_;
  RetryPause rewrite_pause_;
  // The current log was begun by a rewrite that failed: the next one begins within it, so that the
  // logs do not become more with each failure.
  bool begins_within_log_ = false;
  int64_t last_rewrite_seconds_ = -1;  // of one that has succeeded
  uint64_t epoch_ = 0;
  uint64_t base_bytes_ = 0;
  // Of logs before the current one that the base does not cover; less what it covers of that.
  int64_t older_log_bytes_ = 0;
  int64_t last_save_ms_ = 0;
  int64_t last_save_steady_ms_ = 0;                 // or the start
  int64_t last_failure_steady_ms_ = INT64_MIN / 2;  // of a rewrite
  uint64_t saves_ = 0;
  int64_t last_recovery_ms_ = 0;
  std::unique_ptr<BackgroundWorker> worker_;  // last: it has ended before what it uses goes away
};

}  // namespace tally::server
