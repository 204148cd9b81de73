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
#include "server/aof/queued_file.h"

namespace tally::server {

// Writes a snapshot in slices, beside the loop (see QueuedFile). The caller pauses while
// Throttled(). What is saved because it is about to change cannot pause, so it is queued in memory.
// Only if Options::most_queued_bytes are queued, Append waits for the disk before it begins a
// record: more could take the memory that the data need.
class BaseWriter final : public RecordSink {
 public:
  struct Options {
    size_t block_bytes = size_t{16} << 10;  // 1 to kMaxPartBytes (asserted)
    size_t sync_bytes = size_t{1} << 20;    // syncs each time this many bytes are written
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
  // Require Finish (asserted). See QueuedFile.
  absl::StatusOr<bool> PollSynced() { return file_.PollSynced(); }
  absl::Status WaitSynced() { return file_.WaitSynced(); }
  bool Throttled() { return file_.Throttled(); }
  void WaitWhileThrottled() { file_.WaitWhileThrottled(); }

  QueuedFile& file() { return file_; }
  uint64_t records() const { return records_; }
  // Bytes of the header and of all complete blocks, including those that are not written yet.
  uint64_t bytes() const { return file_.bytes() + head_.size(); }

 private:
  void BeginBlock();
  absl::Status AppendPiece(bool is_last, std::string_view piece);
  absl::Status EndBlock(char type);

  const Options options_;
  QueuedFile file_;
  std::string head_;  // is written with the first block
  std::string block_;
  uint32_t crc_ = 0;
  uint64_t records_ = 0;
  uint64_t blocks_ = 0;
  bool in_pieces_ = false;  // the last piece of a record is still to come
  bool finished_ = false;
};

}  // namespace tally::server
