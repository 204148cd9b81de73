// Writes the base file (base_format.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/snapshot/record_sink.h"
#include "server/aof/base_format.h"
#include "server/aof/file_system.h"

namespace tally::server {

// Writes a snapshot in slices. A thread of its own writes what has been appended, and keeps the
// disk busy with syncs, so neither Append nor Finish waits for the disk. The caller pauses while
// Throttled(). What is saved because it is about to change cannot pause, so it is queued in memory.
// Only if Options::most_queued_bytes are queued, Append waits for the disk before it begins a
// record: more could take the memory that the data need.
class BaseWriter final : public RecordSink {
 public:
  struct Options {
    size_t block_bytes = size_t{256} << 10;  // 1 to kMaxPartBytes (asserted)
    size_t sync_bytes = size_t{4} << 20;     // syncs each time this many bytes are written
    size_t most_queued_bytes = size_t{512} << 20;
  };

  // `file` must be a new, empty file of `files`.
  BaseWriter(FileSystem& files, std::unique_ptr<File> file, const BaseHeader& header,
             const Options& options);
  // Waits for the running operation of the thread. Bytes that are still queued are never written.
  ~BaseWriter() = default;
  BaseWriter(const BaseWriter&) = delete;
  BaseWriter& operator=(const BaseWriter&) = delete;

  size_t max_part_bytes() const override { return options_.block_bytes; }
  // An error may come from the bytes of an earlier call. After an error the snapshot is lost, and
  // the caller removes the file.
  absl::Status Append(RecordPart part, std::string_view bytes) override;
  // Queues the last block and the footer to be written and synced. Nothing may be appended after it
  // (asserted).
  absl::Status Finish();
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
  uint64_t records() const { return records_; }
  // Bytes of the header and of all complete blocks, including those that are not written yet.
  uint64_t bytes() const { return bytes_; }

 private:
  void BeginBlock();
  absl::Status AppendPiece(bool is_last, std::string_view piece);
  absl::Status EndBlock(char type);
  // Takes the result of the thread if its operation has ended; then gives it all queued bytes.
  absl::Status Advance();
  void StartWriting();

  std::unique_ptr<File> file_;
  Options options_;
  std::string block_;
  std::string queued_;   // whole blocks that wait to be written
  std::string writing_;  // belongs to the worker while it is busy
  uint32_t crc_ = 0;
  uint64_t records_ = 0;
  uint64_t blocks_ = 0;
  uint64_t bytes_ = 0;
  uint64_t unsynced_bytes_ = 0;  // given to the worker since its last sync was started
  bool in_pieces_ = false;       // the last piece of a record is still to come
  bool finished_ = false;
  absl::Status status_;                       // the first error, kept
  std::unique_ptr<BackgroundWorker> worker_;  // last member: ends before file_ closes
};

}  // namespace tally::server
