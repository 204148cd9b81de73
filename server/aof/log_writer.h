// Appends batches to the incremental log and keeps the promise of appendfsync.
//
//   always    Flush returns OK only when the batch is on disk.
//   everysec  A thread starts a sync half a second after the oldest batch that is not on disk was
//             written; it does so by itself, also while the loop is busy with a long command. If a
//             batch has waited for the disk for one second, Flush waits for the sync, so that no
//             more writes are acknowledged. So at most one second of acknowledged writes can be
//             lost, however slow the disk is. (What is not written yet is not acknowledged either.)
//   no        Flush only gives the bytes to the kernel, which decides when they go to the disk. A
//             thread syncs only before a rewrite begins (SyncAhead).
//
// After a failed write or sync nothing is acknowledged (every Flush returns the error) until
// TryRecover succeeds. Except with policy `no`, bytes are kept in memory until they are known to be
// on disk. After a failed sync they are written again, into a new log. A second sync of the same
// pages would prove nothing, because the kernel marks pages clean when it drops them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/aof/aof_directory.h"
#include "server/aof/file_system.h"
#include "server/aof/log_format.h"
#include "server/aof/unsynced_batches.h"
#include "server/aof/writeback.h"
#include "server/config/fsync_policy.h"

namespace tally::server {

// For INFO persistence.
struct LogStats {
  uint64_t batches = 0;
  uint64_t delayed_fsyncs = 0;     // how often Flush had to wait for a slow disk
  int64_t last_fsync_ms = 0;       // when the end of the last successful sync was seen; 0: never
  int64_t last_fsync_took_us = 0;  // of the last sync that was timed; 0: none was
};

class LogWriter {
 public:
  struct Options {
    FsyncPolicy policy = FsyncPolicy::kEverysec;
    // everysec: bytes that may wait for the disk, and be kept in memory, before Flush waits.
    size_t max_unsynced_bytes = size_t{64} << 20;
    // What is appended in a turn is one batch, unless it has more bytes than this. Then it is split
    // between commands, so that a crash may leave a part of it.
    uint64_t max_batch_bytes = kMaxBatchBytes;
  };

  // Continues after `end`, which the loader found (see aof_loader.h): truncates a torn tail of the
  // last log, or creates the first log. Syncs everything before `end`. Before that it writes the
  // bytes after the first `synced` ones again: if a sync failed in the last process, they may be
  // only in the page cache, in pages that are marked clean.
  static absl::StatusOr<std::unique_ptr<LogWriter>> Open(AofDirectory& directory,
                                                         const LogPosition& end, uint64_t synced,
                                                         const Options& options);
  ~LogWriter() = default;

  // The batch of this turn. Append only whole RESP commands, and call Flush at the end of the turn.
  std::string& buffer() { return buffer_; }
  void Append(std::string_view commands) { buffer_.append(commands); }

  // To be called once each turn, and at least every 100 ms while pending_bytes() > 0. Writes the
  // batch with one system call and syncs as the policy says. OK: what was appended may be
  // acknowledged. After an error it must not be acknowledged; it stays in the buffer and is logged
  // when TryRecover succeeds. `now_ms`, here and below, must come from a clock that never goes
  // back.
  absl::Status Flush(int64_t now_ms);

  // OK, or the reason why nothing is acknowledged now.
  const absl::Status& error() const { return error_; }
  // Tries to write to disk everything that is only in memory; if it succeeds, error() is OK again.
  // It may wait for the disk: call it about once a second.
  absl::Status TryRecover(int64_t now_ms);
  // True if a sync failed in policy `no`. TryRecover cannot succeed then: only a new base can
  // replace the lost bytes, and a new writer must replace this one.
  bool lost() const { return lost_; }

  // With policy `no` there may be gigabytes that are not on disk, and SwitchTo and Mark sync them.
  // So they are synced by the thread first: call this each turn until it returns true. `syncs` must
  // be 0 at the first call; the caller keeps it from call to call. Returns true once little is
  // left to sync, or after several syncs if more is written meanwhile; also after an error.
  bool SyncAhead(int64_t now_ms, int& syncs);

  // Continues in `log`, which AofDirectory::AddLog made. Call it straight after a Flush; the buffer
  // must be empty (asserted). Syncs the old log and waits for it, because the new log must not
  // survive without the old one. Aborted if the manifest has changed since; after any error the
  // writer continues in the old log.
  absl::Status SwitchTo(AofDirectory::NewLog log, int64_t now_ms);

  // Syncs the log, waits for it, and returns the end of the log: a snapshot of the present data is
  // continued there. The buffer must be empty (asserted).
  absl::StatusOr<LogPosition> Mark(int64_t now_ms);

  // If the policy changes, syncs first and waits for it. After an error the old policy stays.
  absl::Status SetPolicy(FsyncPolicy policy, int64_t now_ms);
  // Flushes and syncs, whatever the policy.
  absl::Status Close(int64_t now_ms);

  FsyncPolicy policy() const { return options_.policy; }
  const LogStats& stats() const { return stats_; }
  uint64_t sequence() const { return written_.sequence; }
  // The end of the log before the current one, as the current log's header says; sequence 0 if this
  // writer began no log.
  const LogPosition& previous() const { return previous_; }
  // Bytes in the current log.
  uint64_t current_size() const { return written_.offset; }
  // Bytes that were appended and are not known to be on disk (in policy `no`: not written).
  uint64_t pending_bytes() const { return buffer_.size() + unsynced_bytes(); }
  // The same without the bytes of this turn.
  uint64_t unsynced_bytes() const { return unsynced_.size(); }
  // Whether a sync has begun in the thread whose end was not noticed yet.
  bool fsync_running() const { return worker_->pending() > (worker_->begun() ? 0 : 1); }

 private:
  LogWriter(AofDirectory& directory, const Options& options);

  absl::Status OpenExisting(const LogPosition& end, uint64_t synced);
  // Continues in `file`.
  void UseFile(std::unique_ptr<File> file);
  // Writes the header of the new log `file`, which continues written_, and continues there.
  absl::Status StartLog(std::unique_ptr<File> file, uint64_t sequence);
  absl::Status WriteBatch();
  absl::Status WriteBatches();
  absl::Status SyncInline(int64_t now_ms);
  absl::Status TimedSync(File& file, int64_t now_ms);
  void WaitWhenBehind(int64_t now_ms);
  void KeepUnsynced(int64_t now_ms);
  void HurrySyncIfDue(int64_t now_ms);
  void StartSync(int64_t delay_ms, int64_t now_ms);
  bool CollectSyncs(int64_t now_ms);
  void WaitForSyncs(int64_t now_ms);
  void CollectSync(const BackgroundWorker::Result& result, int64_t now_ms);
  absl::Status RecoverInPlace(int64_t now_ms);
  absl::Status RecoverInNewLog(int64_t now_ms);
  absl::Status Fail(absl::Status status);

  AofDirectory& directory_;
  Options options_;
  std::unique_ptr<File> file_;
  LogPosition previous_;
  LogPosition written_;  // end of the bytes that the kernel has
  uint64_t synced_ = 0;  // bytes of the file that are on disk
  LogPosition safe_;     // end of the bytes not needed in memory: on disk, or in policy no, written

  std::string buffer_;        // commands of this turn
  UnsyncedBatches unsynced_;  // commands after safe_; a group for each sync that was started

  absl::Status error_;
  bool file_distrusted_ = false;  // a sync or a truncation failed: never append to this file again
  bool lost_ = false;             // a sync failed in policy no: its bytes are not in memory
  LogStats stats_;
  // The last members: they end before file_ closes.
  Writeback writeback_;
  std::unique_ptr<BackgroundWorker> worker_;
};

}  // namespace tally::server
