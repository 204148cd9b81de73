// The base file, which holds a snapshot: a header, CRC-chained blocks of records, and a footer with
// their counts. The content of a record means nothing here. A record that is longer than a block is
// split into pieces, each in a block of its own. The layout is in aof_format.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/snapshot/record_sink.h"
#include "server/aof/file_system.h"

namespace tally::server {

inline constexpr size_t kBaseHeaderBytes = 52;

struct BaseHeader {
  int64_t created_unix_ms = 0;
  uint64_t sequence = 0;   // the manifest's
  uint64_t first_log = 0;  // the oldest log that may continue this snapshot
  // The offset in `first_log` at which it continues the snapshot, and the log's checksum there; the
  // bytes of the log before it are void. Offset 0: the snapshot is continued at the header of that
  // log, or of the first one listed.
  uint64_t first_offset = 0;
  uint32_t first_crc = 0;
};

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

using RecordReader = absl::FunctionRef<absl::Status(std::string_view record)>;
// Called with the records that the RecordReader gets next, at most kPreviewedRecords, so that the
// memory that they will touch can be prefetched.
using RecordPreview = absl::FunctionRef<void(std::span<const std::string_view> records)>;
inline constexpr size_t kPreviewedRecords = 32;

class BaseReader {
 public:
  static absl::StatusOr<std::unique_ptr<BaseReader>> Open(FileSystem& files,
                                                          const std::string& path,
                                                          uint64_t sequence);

  // Checks the checksum of one block, then delivers its records; returns false after the footer. A
  // split record is delivered with its last piece. No memory is taken for a piece that has not been
  // read. DataLoss, with file and offset, for any damage: a snapshot never has a torn tail.
  absl::StatusOr<bool> NextBlock(RecordReader on_record, RecordPreview preview = NoPreview);

  const BaseHeader& header() const { return header_; }
  const std::string& path() const { return file_->path(); }
  uint64_t file_size() const { return file_size_; }
  uint64_t offset() const { return offset_; }
  uint64_t records() const { return records_; }
  uint64_t blocks() const { return blocks_; }

 private:
  BaseReader(std::unique_ptr<File> file, uint64_t size);

  absl::Status ReadHeader(uint64_t sequence);
  absl::Status ReadExactly(uint64_t offset, std::span<char> out);
  static void NoPreview(std::span<const std::string_view>) {}
  absl::Status Take(char type, std::string_view payload, RecordReader on_record,
                    RecordPreview preview);
  absl::Status Deliver(std::string_view payload, RecordReader on_record, RecordPreview preview);
  absl::Status DeliverOne(std::string_view record, uint64_t offset, RecordReader on_record);
  absl::Status TakePiece(std::string_view piece, bool is_last, RecordReader on_record,
                         RecordPreview preview);
  absl::Status CheckFooter(std::string_view payload);
  absl::Status Damaged(uint64_t offset, std::string_view why) const;
  void DropWhatWasRead();

  std::unique_ptr<File> file_;
  uint64_t file_size_;
  BaseHeader header_;
  uint64_t offset_ = 0;
  uint64_t dropped_ = 0;  // bytes of the file dropped from the page cache
  uint32_t crc_ = 0;
  uint64_t records_ = 0;
  uint64_t blocks_ = 0;
  bool at_end_ = false;
  std::vector<char> buffer_;
  std::string pieces_;  // read pieces of a record that is not complete
};

}  // namespace tally::server
