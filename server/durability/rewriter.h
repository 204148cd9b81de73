// Rewrites the append-only file between the turns: begins a rewrite, continues it slice by slice,
// and keeps its result.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/engine/engine.h"
#include "server/aof/background_worker.h"
#include "server/durability/data_files.h"
#include "server/durability/effect_log.h"
#include "server/durability/persistence_report.h"
#include "server/durability/rewrite.h"
#include "server/durability/rewrite_pacing.h"
#include "server/durability/rewrite_results.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

class Rewriter {
 public:
  Rewriter(Engine& engine, const Clock& clock, Stats& stats, DataFiles& files, EffectLog& log,
           const PersistenceReport& report);
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;

  // Begins a rewrite. Returns AlreadyExists if one is running.
  absl::Status Start();
  // The same for a rewrite that no command asked for. If it cannot begin, that counts as a failed
  // rewrite.
  void StartAutomatic();
  bool running() const { return rewrite_ != nullptr; }
  // Returns when a whole base is written and published; it waits for the disk.
  absl::Status SaveNow();
  // Cancels a running rewrite, if any, and removes what it has made; it waits for the disk.
  void Cancel(std::string_view why);

  // How far one turn continues a rewrite. kShared: for the time that RewritePacing gives it. kStep:
  // by one step, for tests that must be deterministic.
  enum class Pace { kShared, kStep };
  // Called at each turn's end: continues the rewrite.
  void TakeTurn(Pace pace);
  // Continues the rewrite for about `budget_us`, when there are no clients to share with.
  void RunFor(int64_t budget_us) { RunSlice(budget_us, Rewrite::Waiting::kNo); }
  // Returns after how many microseconds the rewrite needs another turn; 0: at once; nullopt: it
  // waits for the disk, or no rewrite is running.
  std::optional<int64_t> NextSliceInMicros();
  // Whether the worker may be changing the directory now, in parallel with the loop.
  bool changes_files() const { return worker_->busy(); }

  const RewriteResults& results() const { return results_; }
  // Called when the server starts: until the first save, now counts as the time of the last save.
  void ServerStarts() { results_.Started(clock_.now_ms(), clock_.steady_ms()); }
  // -1 if no rewrite is running.
  int64_t running_seconds() const;
  std::optional<SavingFigures> figures() const;

 private:
  void RunSlice(int64_t budget_us, Rewrite::Waiting waiting);
  void Succeed();
  // Records the failure and abandons the rewrite. The next automatic one comes after a pause.
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
  std::unique_ptr<BackgroundWorker> worker_;  // last: it must end before what it uses is destroyed
};

}  // namespace tally::server
