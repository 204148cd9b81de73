// One snapshot, from the opening of its file until it is in place: what the base of the log and an
// RDB have in common. The state that it has is that of the moment when the walk begins.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/engine/engine.h"
#include "core/snapshot/snapshot_walk.h"
#include "server/aof/background_worker.h"
#include "server/aof/queued_file.h"
#include "server/durability/effect_log.h"
#include "server/durability/persistence_report.h"
#include "server/durability/progress.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

class SnapshotJob {
 public:
  struct Parts {
    Engine& engine;
    const Clock& clock;
    const Stats& stats;
    const EffectLog& log;
    BackgroundWorker& worker;  // must be idle; only the job may use it until it has ended
    const PersistenceReport& report;
  };
  enum class Waiting { kNo, kForTheDisk };

  virtual ~SnapshotJob() = default;
  SnapshotJob(const SnapshotJob&) = delete;
  SnapshotJob& operator=(const SnapshotJob&) = delete;

  // To be called once, first.
  void Start();
  // Continues, at most to the end of the present stage. After an error the caller must call
  // Abandon().
  absl::Status Advance(int64_t budget_us, Waiting waiting);
  // Waits for the worker, then has it remove what the job has made.
  void Abandon();
  // Whether nothing is left to do.
  bool has_ended() const { return stage_ == Stage::kPublished || stage_ == Stage::kRemoved; }
  bool succeeded() const { return stage_ == Stage::kPublished; }
  // To be called once, at the end: OK if the job succeeded, or why it was abandoned.
  virtual void Settle(const absl::Status& status, uint64_t failures_before) = 0;

  // Whether there is work to do that need not wait for the disk.
  bool HasWork() { return walk_ != nullptr && !file().Throttled(); }

  int64_t started_steady_ms() const { return started_steady_ms_; }
  // Returns nullopt before the snapshot begins and after Abandon().
  std::optional<SavingFigures> figures();
  // Where in the stream of effects the saved state is. Valid if succeeded().
  const std::string& stream_id() const { return stream_id_; }
  uint64_t stream_offset() const { return stream_offset_; }
  // How many changes the saved state has that the previous snapshot does not have.
  uint64_t changes() const { return changes_; }

 protected:
  // `epoch` must be higher than that of any earlier snapshot.
  SnapshotJob(const Parts& parts, uint64_t epoch)
      : parts_(parts), epoch_(epoch), started_steady_ms_(parts.clock.steady_ms()) {}

  const Parts& parts() const { return parts_; }
  uint64_t keys_total() const { return keys_total_; }

 private:
  // The worker does what may wait long for the disk: the first two, and Remove.
  virtual absl::Status OpenFiles() = 0;
  virtual absl::Status Publish() = 0;
  // Closes and removes what the job has made; it may have been published.
  virtual void Remove() = 0;

  // Whether BeginWriting would not wait long for the disk.
  virtual bool MayBegin() { return true; }
  virtual absl::Status BeginWriting() = 0;
  // Valid once BeginWriting has succeeded.
  virtual SnapshotEmitter& emitter() = 0;
  virtual QueuedFile& file() = 0;
  // The walk is over: the rest is written.
  virtual absl::Status EndWriting() = 0;
  // To be called before Publish.
  virtual void Prepare() {}
  virtual void Abandoned() {}
  // How large the file is likely to be; 0 if nobody knows.
  virtual uint64_t expected_bytes() const { return 0; }

  enum class Stage {
    kOpening,     // the worker makes the files
    kSaving,      // the walk writes, between the turns
    kSyncing,     // the file waits for the disk
    kPublishing,  // the worker puts it in place
    kPublished,
    kAbandoning,  // the job has failed; the worker removes what it has made
    kRemoved,
  };

  absl::Status FinishOpening(Waiting waiting);
  absl::Status SaveSegments(int64_t budget_us, Waiting waiting);
  absl::Status FinishSyncing(Waiting waiting);
  absl::StatusOr<bool> WorkerDone(Waiting waiting);
  Extent Saved();
  uint64_t keys_saved() const;

  const Parts parts_;
  const uint64_t epoch_;
  const int64_t started_steady_ms_;
  Stage stage_ = Stage::kOpening;
  std::unique_ptr<SnapshotWalk> walk_;  // null unless in kSaving
  std::optional<Progress> progress_;    // of the walk; set when it begins
  std::string stream_id_;
  uint64_t stream_offset_ = 0;
  uint64_t keys_total_ = 0;  // keys when the walk began
  uint64_t changes_ = 0;     // changes since the previous snapshot, when the walk began
};

}  // namespace tally::server
