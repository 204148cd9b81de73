// Writes snapshots between the turns, one at a time: bases of the append-only file and RDBs. Begins
// one, continues it slice by slice, and keeps its result.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/engine/engine.h"
#include "server/aof/background_worker.h"
#include "server/config/config.h"
#include "server/durability/data_files.h"
#include "server/durability/effect_log.h"
#include "server/durability/persistence_report.h"
#include "server/durability/rdb_save.h"
#include "server/durability/rewrite_pacing.h"
#include "server/durability/rewrite_results.h"
#include "server/durability/snapshot_job.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

class Rewriter {
 public:
  Rewriter(Engine& engine, const Config& config, const Clock& clock, Stats& stats, DataFiles& files,
           EffectLog& log, const PersistenceReport& report);
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  enum class Snapshot : uint8_t { kBase, kRdb };
  // What SAVE, BGSAVE and the rules of `save` write, as `rdb-format` says.
  Snapshot saved() const {
    return config_.rdb_format == RdbFormat::kRedis ? Snapshot::kRdb : Snapshot::kBase;
  }

  // Begins a snapshot. Returns AlreadyExists if one is running.
  absl::Status Start(Snapshot snapshot);
  // The same for one that no command asked for. If it cannot begin, that counts as a failure.
  void StartAutomatic(Snapshot snapshot);
  bool running() const { return job_ != nullptr; }
  // Returns when a whole snapshot is in place; it waits for the disk.
  absl::Status SaveNow(Snapshot snapshot);
  // Cancels what is running, if anything, and removes what it has made; it waits for the disk.
  void Cancel(std::string_view why);
  // An RDB is written as soon as nothing else is.
  void Request(RdbRequest request) { requests_.push_back(std::move(request)); }

  // How far one turn continues a rewrite. kShared: for the time that RewritePacing gives it. kStep:
  // by one step, for tests that must be deterministic.
  enum class Pace { kShared, kStep };
  // Called at each turn's end: continues the rewrite.
  void TakeTurn(Pace pace);
  // Continues the rewrite for about `budget_us`, when there are no clients to share with.
  void RunFor(int64_t budget_us) { RunSlice(budget_us, SnapshotJob::Waiting::kNo); }
  // Returns after how many microseconds the rewrite needs another turn; 0: at once; nullopt: it
  // waits for the disk, or no rewrite is running.
  std::optional<int64_t> NextSliceInMicros();
  // Whether the worker may be changing the directory now, in parallel with the loop.
  bool changes_files() const { return worker_->busy(); }

  // Where in the stream of effects the base in force was begun; nullopt if it is not known,
  // or there is none.
  struct BasePlace {
    std::string id;  // of the history
    uint64_t offset;
  };
  const std::optional<BasePlace>& base_place() const { return base_place_; }
  void set_base_place(const BasePlace& place) { base_place_ = place; }
  const RewriteResults& results(Snapshot snapshot) const {
    return snapshot == Snapshot::kBase ? base_results_ : rdb_results_;
  }
  // Called when the server starts: until the first save, now counts as the time of the last save.
  void ServerStarts();
  // What is running; nullopt if that is nothing, or an RDB that was asked for by Request.
  std::optional<Snapshot> kind() const { return kind_; }
  // -1 if no rewrite is running.
  int64_t running_seconds() const;
  std::optional<SavingFigures> figures() const;

 private:
  RewriteResults* results();
  SnapshotJob::Parts JobParts();
  // The RDB named by `dbfilename`.
  RdbRequest OwnRdb();
  void Begin(std::unique_ptr<SnapshotJob> job, std::optional<Snapshot> kind);
  void StartRequested();
  void RunSlice(int64_t budget_us, SnapshotJob::Waiting waiting);
  void Settle();
  // Records the failure and abandons the snapshot. The next automatic one comes after a pause.
  void Fail(const absl::Status& status);

  Engine& engine_;
  const Config& config_;
  const Clock& clock_;
  Stats& stats_;
  DataFiles& files_;
  EffectLog& log_;
  const PersistenceReport& report_;
  RewritePacing pacing_;
  RewriteResults base_results_;
  RewriteResults rdb_results_;
  std::optional<BasePlace> base_place_;
  uint64_t epoch_ = 0;
  std::unique_ptr<SnapshotJob> job_;
  std::optional<Snapshot> kind_;
  absl::Status failure_;  // of the job that is being abandoned
  std::deque<RdbRequest> requests_;
  std::unique_ptr<BackgroundWorker> worker_;  // last: it must end before what it uses is destroyed
};

}  // namespace tally::server
