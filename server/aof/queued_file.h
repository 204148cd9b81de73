// Writes a new file beside the loop. A thread of its own writes what has been appended, and keeps
// the disk busy with syncs, so neither Append nor Finish waits for the disk. The caller pauses
// while Throttled(). What comes nevertheless is queued in memory.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/aof/background_worker.h"
#include "server/aof/file_system.h"

namespace tally::server {

class QueuedFile {
 public:
  struct Options {
    size_t sync_bytes = size_t{1} << 20;  // syncs each time this many bytes are written
    size_t most_queued_bytes = size_t{512} << 20;
  };

  // `file` must be a new, empty file of `files`.
  QueuedFile(FileSystem& files, std::unique_ptr<File> file, const Options& options)
      : file_(std::move(file)), options_(options), worker_(files.NewWorker()) {}
  // Waits for the running operation of the thread. Bytes that are still queued are never written.
  ~QueuedFile() = default;
  QueuedFile(const QueuedFile&) = delete;
  QueuedFile& operator=(const QueuedFile&) = delete;

  // An error may come from the bytes of an earlier call. After an error the file is lost, and the
  // caller removes it.
  absl::Status Append(std::string_view bytes);
  // The first error, as far as it is known.
  const absl::Status& status() const { return status_; }
  // Appends the last bytes; then nothing more may be appended (asserted). All is written and
  // synced.
  absl::Status Finish(std::string_view last = {});
  // Requires Finish (asserted). Returns true when the whole file is on disk; an error if it cannot
  // be.
  absl::StatusOr<bool> PollSynced();
  // Like PollSynced, but waits until the whole file is on disk.
  absl::Status WaitSynced();

  // True while at least Options::sync_bytes are queued to be written: the caller should pause and
  // ask again later. False after an error, which the next Append returns.
  bool Throttled();
  // Waits until Throttled() is false.
  void WaitWhileThrottled();
  // Whether more could take the memory that the data need: then the caller should wait.
  bool IsFull() const { return queued_.size() > options_.most_queued_bytes; }

  // With those that are not written yet.
  uint64_t bytes() const { return bytes_; }

 private:
  // Takes the result of the thread if its operation has ended; then gives it all queued bytes.
  absl::Status Advance();
  void StartWriting();

  std::unique_ptr<File> file_;
  const Options options_;
  std::string queued_;
  std::string writing_;  // belongs to the worker while it is busy
  uint64_t bytes_ = 0;
  uint64_t unsynced_bytes_ = 0;  // given to the worker since its last sync was started
  uint64_t dropped_bytes_ = 0;   // that leave the page cache by the syncs started until now
  bool finished_ = false;
  absl::Status status_;                       // the first error, kept
  std::unique_ptr<BackgroundWorker> worker_;  // last member: ends before file_ closes
};

}  // namespace tally::server
