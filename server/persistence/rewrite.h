// One rewrite of the append-only file: a base snapshot of the state at its begin, and a new log for
// what comes after, in the place of the old files.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/engine/engine.h"
#include "core/snapshot/snapshot_walk.h"
#include "server/aof/background_worker.h"
#include "server/aof/base_snapshot.h"
#include "server/persistence/data_files.h"
#include "server/persistence/effect_log.h"
#include "server/persistence/persistence_report.h"
#include "server/persistence/progress.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

class Rewrite {
 public:
  struct Parts {
    Engine& engine;
    const Clock& clock;
    const Stats& stats;
    DataFiles& files;
    EffectLog& log;
    BackgroundWorker& worker;  // idle; the rewrite's until it has ended
    const PersistenceReport& report;
  };
  enum class Waiting { kNo, kForTheDisk };

  // Begins. The directory is open. `epoch` is higher than that of any snapshot before. `is_retry`:
  // the log need not hear again that a base begins.
  Rewrite(const Parts& parts, uint64_t epoch, bool is_retry);
  Rewrite(const Rewrite&) = delete;
  Rewrite& operator=(const Rewrite&) = delete;

  // Goes on, through one stage at most. After an error Abandon() is to be called.
  absl::Status Advance(int64_t budget_us, Waiting waiting);
  // Has the worker remove what the rewrite has made.
  void Abandon();
  // Nothing is left to do.
  bool has_ended() const { return stage_ == Stage::kPublished || stage_ == Stage::kRemoved; }
  bool succeeded() const { return stage_ == Stage::kPublished; }

  // Null unless the snapshot is being written.
  SnapshotWalk* walk() { return walk_.get(); }
  // Whether there is something to do that needs not wait for the disk.
  bool HasWork() { return walk_ != nullptr && !writer_->Throttled(); }

  int64_t started_ms() const { return started_ms_; }
  // Nothing before the snapshot begins, and after it was given up.
  std::optional<SavingFigures> figures() const;
  // Of the state that is saved: changes since the snapshot before.
  uint64_t changes() const { return changes_; }
  // Only when it has succeeded.
  const BaseWriter& base() const { return *writer_; }
  uint64_t covered_bytes() const { return covered_bytes_; }

 private:
  // What may take the disk long is done by the worker.
  enum class Stage {
    kOpening,     // the worker makes the base's file and the new log
    kSaving,      // the walk writes the base, between the turns
    kSyncing,     // the base's writer waits for the disk
    kPublishing,  // the worker replaces the old files
    kPublished,
    kAbandoning,  // it has failed, and the worker removes what it has made
    kRemoved,
  };

  absl::Status FinishOpening(Waiting waiting);
  absl::Status BeginWalk();
  absl::Status SaveSegments(int64_t budget_us);
  absl::Status FinishSyncing(Waiting waiting);
  absl::StatusOr<bool> WorkerDone(Waiting waiting);
  Extent Saved() const;
  uint64_t keys_saved() const;

  const Parts parts_;
  const uint64_t epoch_;
  const bool is_retry_;
  const int64_t started_ms_;
  Stage stage_ = Stage::kOpening;
  bool seen_sync_ = false;      // see EffectLog::MayBeginSnapshot
  AofDirectory::NewLog log_;    // sequence 0: it begins within the current log
  bool log_in_use_ = false;     // effects have gone on in log_
  uint64_t first_log_ = 0;      // that continues the base
  uint64_t covered_bytes_ = 0;  // of it, from its start, by the base
  AofDirectory::NewBase base_;
  std::unique_ptr<BaseWriter> writer_;
  std::unique_ptr<SnapshotWalk> walk_;  // in kSaving
  std::optional<Progress> progress_;    // of the walk, from its begin on
  uint64_t keys_total_ = 0;             // when it began
  uint64_t changes_ = 0;                // since the one before, when it began
};

}  // namespace tally::server
