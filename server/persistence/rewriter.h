// Rewrites the append-only file between the turns: begins a rewrite, takes it on slice by slice,
// and keeps how it has ended.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/engine/engine.h"
#include "server/aof/background_worker.h"
#include "server/persistence/data_files.h"
#include "server/persistence/effect_log.h"
#include "server/persistence/persistence_report.h"
#include "server/persistence/rewrite.h"
#include "server/persistence/rewrite_pacing.h"
#include "server/persistence/rewrite_results.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

class Rewriter {
 public:
  Rewriter(Engine& engine, const Clock& clock, Stats& stats, DataFiles& files, EffectLog& log,
           const PersistenceReport& report);
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  // Fails when one is under way.
  absl::Status Start();
  // The same, by nobody's order: if it fails, that counts as a rewrite that has failed.
  void StartAutomatic();
  bool running() const { return rewrite_ != nullptr; }
  // Writes everything before it returns.
  absl::Status SaveNow();
  // Gives one up that is under way, and removes what it has made.
  void Cancel(std::string_view why);

  // How far a turn takes a rewrite: by the time that those who are served leave it, or, for tests
  // that are to be the same each time, one step.
  enum class Pace { kShared, kStep };
  // At each turn's end.
  void TakeTurn(Pace pace);
  // After how many microseconds a rewrite wants another turn, 0 for at once; nullopt where it waits
  // for the disk, or there is none.
  std::optional<int64_t> NextSliceInMicros();
  // Whether it may be changing the directory just now, beside the loop.
  bool changes_files() const { return worker_->busy(); }

  // See Keyspace::Observer.
  void SaveBeforeChange(size_t database, Keyspace::Segment& segment, std::string_view key,
                        const Keyspace::Entry& entry);
  void SaveBeforeValueChange(void* value);
  bool KeepValue(const void* value);
  // See SnapshotWalk.
  void BeforeClear(size_t database);
  void BeforeSwap(size_t one, size_t other);

  const RewriteResults& results() const { return results_; }
  // Times from now on count from the start of the server, which is now.
  void ServerStarts() { results_.Started(clock_.now_ms(), clock_.steady_ms()); }
  // -1 when none is under way.
  int64_t running_seconds() const;
  std::optional<SavingFigures> figures() const;

 private:
  // Null unless a snapshot is being written.
  SnapshotWalk* walk() { return rewrite_ == nullptr ? nullptr : rewrite_->walk(); }
  void RunSlice(int64_t budget_us, Rewrite::Waiting waiting);
  void Succeed();
  // The next automatic one comes after a pause.
  void Fail(const absl::Status& status);

  Engine& engine_;
  const Clock& clock_;
  Stats& stats_;
  DataFiles& files_;
  EffectLog& log_;
  const PersistenceReport& report_;
  RewritePacing pacing_;
  RewriteResults results_;
  uint64_t epoch_ = 0;
  std::unique_ptr<Rewrite> rewrite_;
  std::unique_ptr<BackgroundWorker> worker_;  // last: it has ended before what it uses goes away
};

}  // namespace tally::server
