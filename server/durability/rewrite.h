// One rewrite of the append-only file: writes a base of the state at its begin, begins a new log
// for what comes after, and replaces the old files by these two.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>

#include "core/snapshot/record_emitter.h"
#include "server/aof/base_writer.h"
#include "server/durability/data_files.h"
#include "server/durability/effect_log.h"
#include "server/durability/snapshot_job.h"

namespace tally::server {

class Rewrite final : public SnapshotJob {
 public:
  // The directory must be open. With `is_retry` the begin of the base is not reported to the
  // server's log again.
  Rewrite(const Parts& parts, DataFiles& files, EffectLog& log, uint64_t epoch, bool is_retry);

  void Settle(const absl::Status& status, uint64_t failures_before) override;

 private:
  absl::Status OpenFiles() override;
  absl::Status Publish() override;
  void Remove() override;
  bool MayBegin() override { return log_.MayBeginSnapshot(syncs_); }
  absl::Status BeginWriting() override;
  SnapshotEmitter& emitter() override { return *emitter_; }
  QueuedFile& file() override { return writer_->file(); }
  absl::Status EndWriting() override { return writer_->Finish(); }
  void Abandoned() override;
  uint64_t expected_bytes() const override { return files_.base_bytes(); }

  DataFiles& files_;
  EffectLog& log_;
  const bool is_retry_;
  const bool within_log_;         // the snapshot begins within the current log
  const uint64_t after_;          // the log that a new one follows
  int syncs_ = 0;                 // see EffectLog::MayBeginSnapshot
  AofDirectory::NewLog new_log_;  // sequence 0: none was made
  bool log_in_use_ = false;       // effects are written to new_log_
  uint64_t first_log_ = 0;        // sequence of the first log that continues the base
  uint64_t covered_bytes_ = 0;    // bytes at the start of that log that the base covers
  AofDirectory::NewBase base_;
  std::unique_ptr<BaseWriter> writer_;
  std::unique_ptr<RecordEmitter> emitter_;
};

}  // namespace tally::server
