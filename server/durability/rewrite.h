// One rewrite of the append-only file: writes a base of the state at its begin, begins a new log
// for what comes after, and replaces the old files by these two.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/engine/engine.h"
#include "core/snapshot/snapshot_walk.h"
#include "server/aof/background_worker.h"
#include "server/aof/base_writer.h"
#include "server/durability/data_files.h"
#include "server/durability/effect_log.h"
#include "server/durability/persistence_report.h"
#include "server/durability/progress.h"
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
    BackgroundWorker& worker;  // must be idle; only the rewrite may use it until it has ended
    const PersistenceReport& report;
  };
  enum class Waiting { kNo, kForTheDisk };

  // Begins the rewrite. The directory must be open. `epoch` must be higher than that of any earlier
  // snapshot. With `is_retry` the begin of the base is not reported to the server's log again.
  Rewrite(const Parts& parts, uint64_t epoch, bool is_retry);
  Rewrite(const Rewrite&) = delete;
  Rewrite& operator=(const Rewrite&) = delete;

  // Continues, at most to the end of the present stage. After an error the caller must call
  // Abandon().
  absl::Status Advance(int64_t budget_us, Waiting waiting);
  // Waits for the worker, then has it remove what the rewrite has made.
  void Abandon();
  // Whether nothing is left to do.
  bool has_ended() const { return stage_ == Stage::kPublished || stage_ == Stage::kRemoved; }
  bool succeeded() const { return stage_ == Stage::kPublished; }

  // Whether there is work to do that need not wait for the disk.
  bool HasWork() { return walk_ != nullptr && !writer_->Throttled(); }

  int64_t started_steady_ms() const { return started_steady_ms_; }
  // Returns nullopt before the snapshot begins and after Abandon().
  std::optional<SavingFigures> figures() const;
  // How many changes the saved state has that the previous snapshot does not have.
  uint64_t changes() const { return changes_; }
  // base() and covered_bytes() are valid only if succeeded().
  const BaseWriter& base() const { return *writer_; }
  uint64_t covered_bytes() const { return covered_bytes_; }

 private:
  // The worker does what may wait long for the disk.
  enum class Stage {
    kOpening,     // the worker makes the base's file and the new log
    kSaving,      // the walk writes the base, between the turns
    kSyncing,     // the base's writer waits for the disk
    kPublishing,  // the worker replaces the old files
    kPublished,
    kAbandoning,  // the rewrite has failed; the worker removes what it has made
    kRemoved,
  };

  absl::Status FinishOpening(Waiting waiting);
  absl::Status BeginWalk();
  absl::Status SaveSegments(int64_t budget_us, Waiting waiting);
  absl::Status FinishSyncing(Waiting waiting);
  absl::StatusOr<bool> WorkerDone(Waiting waiting);
  Extent Saved() const;
  uint64_t keys_saved() const;

  const Parts parts_;
  const uint64_t epoch_;
  const bool is_retry_;
  const int64_t started_steady_ms_;
  Stage stage_ = Stage::kOpening;
  int syncs_ = 0;               // see EffectLog::MayBeginSnapshot
  AofDirectory::NewLog log_;    // sequence 0: the snapshot begins within the current log
  bool log_in_use_ = false;     // effects are written to log_
  uint64_t first_log_ = 0;      // sequence of the first log that continues the base
  uint64_t covered_bytes_ = 0;  // bytes at the start of that log that the base covers
  AofDirectory::NewBase base_;
  std::unique_ptr<BaseWriter> writer_;
  std::unique_ptr<SnapshotWalk> walk_;  // null unless in kSaving
  std::optional<Progress> progress_;    // of the walk; set when it begins
  uint64_t keys_total_ = 0;             // keys when the walk began
  uint64_t changes_ = 0;                // changes since the previous snapshot, when the walk began
};

}  // namespace tally::server
