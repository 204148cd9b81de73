// Appends batches to the incremental log and keeps the promise of appendfsync.
//
//   always    Flush returns OK only when the batch is on disk.
//   everysec  A thread syncs half a second after the oldest batch that is not on disk was written.
//             When a batch has waited for the disk for one second, Flush waits instead of letting
//             more be acknowledged: at most one second of acknowledged writes can be lost, however
//             slow the disk is.
//   no        The kernel decides; Flush hands it the bytes.
//
// After a failed write or sync nothing is acknowledged (every Flush returns the error) until
// TryRecover succeeds. What was written but is not known to be on disk is kept in memory until it
// is; after a failed sync it is written again, into a new log, because a second sync of the same
// pages proves nothing (the kernel marks them clean when it drops them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/bytes/byte_blocks.h"
#include "server/aof/aof_directory.h"
#include "server/aof/file_system.h"
#include "server/aof/log_format.h"

namespace tally::server {

enum class AppendFsync : uint8_t { kAlways, kEverySec, kNo };

// For INFO persistence.
struct LogStats {
  uint64_t batches = 0;
  uint64_t delayed_fsyncs = 0;     // how often Flush had to wait for a slow disk
  int64_t last_fsync_ms = 0;       // when the last successful sync was seen; 0: never
  int64_t last_fsync_took_us = 0;  // that one; 0 where it is not known
};

class LogWriter {
 public:
  struct Options {
    AppendFsync policy = AppendFsync::kEverySec;
    // everysec: bytes that may wait for the disk, and be kept in memory, before Flush waits.
    size_t max_unsynced_bytes = size_t{64} << 20;
  };

  // Continues after `end`, which the loader found (see aof_loader.h): truncates a torn tail of the
  // last log, or creates the first log. Everything before `end` is synced; what lies after the
  // first `synced` bytes is written once more before, because it may be in the page cache only: a
  // sync that failed in the last process has left those pages clean.
  static absl::StatusOr<std::unique_ptr<LogWriter>> Open(AofDirectory& directory,
                                                         const LogPosition& end, uint64_t synced,
                                                         const Options& options);
  ~LogWriter() = default;

  // The batch of this turn: append RESP commands, whole ones, and call Flush at the turn's end.
  std::string& buffer() { return buffer_; }
  void Append(std::string_view commands) { buffer_.append(commands); }

  // Once each turn, and at least every 100 ms while pending_bytes() > 0: writes the batch with one
  // system call and syncs as the policy says. OK: what was appended may be acknowledged. Otherwise
  // it must not be, although it stays in the buffer and is logged when TryRecover succeeds.
  // `now_ms`, here and below, is of a clock that never goes back.
  absl::Status Flush(int64_t now_ms);

  // OK, or why nothing is acknowledged at present.
  const absl::Status& error() const { return error_; }
  // Tries to get everything that is in memory only onto the disk; then error() is OK again. It may
  // wait for the disk: call it about once a second.
  absl::Status TryRecover(int64_t now_ms);
  // A sync failed in policy no, so that TryRecover cannot succeed: only a new base can replace what
  // was lost, and a new writer this one.
  bool lost() const { return lost_; }

  // Goes on in `log`, which AofDirectory::AddLog made. Requires an empty buffer, straight after a
  // Flush. Waits for a sync of the old log: what follows must not survive what precedes. Aborted
  // when the manifest has changed since; the writer then stays where it is.
  absl::Status SwitchTo(AofDirectory::NewLog log, int64_t now_ms);

  // The end of the log, once that is on disk: where a snapshot of what is now may begin. Requires
  // an empty buffer.
  absl::StatusOr<LogPosition> Mark(int64_t now_ms);

  // Waits for a sync when the new policy promises more than the old.
  absl::Status SetPolicy(AppendFsync policy, int64_t now_ms);
  // Flushes and syncs, whatever the policy.
  absl::Status Close(int64_t now_ms);

  AppendFsync policy() const { return options_.policy; }
  const LogStats& stats() const { return stats_; }
  uint64_t sequence() const { return written_.sequence; }
  // Bytes in the current log.
  uint64_t current_size() const { return written_.offset; }
  // Bytes appended or written that are not known to be on disk (in policy no: not written).
  uint64_t pending_bytes() const { return buffer_.size() + unsynced_bytes(); }
  // The same without those of this turn.
  uint64_t unsynced_bytes() const { return unsynced_.size() + syncing_.size(); }
  bool fsync_running() const { return worker_->busy(); }

 private:
  LogWriter(AofDirectory& directory, const Options& options);

  absl::Status OpenExisting(const LogPosition& end, uint64_t synced);
  absl::Status WriteAgain(uint64_t from, uint64_t to);
  // Writes the header of an empty log that follows written_, and goes on there.
  absl::Status StartLog(std::unique_ptr<File> file, uint64_t sequence);
  absl::Status WriteBatch();
  absl::Status SyncInline(int64_t now_ms);
  void WaitWhenBehind(int64_t now_ms);
  bool IsBehind(int64_t now_ms) const;
  void StartSyncIfDue(int64_t now_ms);
  void StartSync();
  void CollectSync(const BackgroundWorker::Result& result, int64_t now_ms);
  absl::Status RecoverInPlace(int64_t now_ms);
  absl::Status RecoverInNewLog(int64_t now_ms);
  absl::Status Fail(absl::Status status);

  AofDirectory& directory_;
  Options options_;
  std::unique_ptr<File> file_;
  LogPosition written_;  // end of what the kernel has
  uint64_t synced_ = 0;  // bytes of the file that are on disk
  LogPosition safe_;     // end of what need not be kept: on disk, or in policy no, written

  std::string buffer_;   // commands of this turn
  ByteBlocks unsynced_;  // commands after syncing_ that were written and are not on disk
  ByteBlocks syncing_;   // commands after safe_ that the running sync covers
  int64_t unsynced_since_ms_ = 0;
  int64_t syncing_since_ms_ = 0;
  LogPosition sync_target_;

  absl::Status error_;
  bool file_distrusted_ = false;  // a sync or a truncation failed: never append to this file again
  bool lost_ = false;             // a sync failed in policy no: what it covered is in no memory
  LogStats stats_;
  std::unique_ptr<BackgroundWorker> worker_;  // last: it has ended before the file closes
};

}  // namespace tally::server
