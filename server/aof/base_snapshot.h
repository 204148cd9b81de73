// The base snapshot: a header, CRC-chained blocks of records, and a footer with their counts. A
// record is opaque here, and one that is longer than a block has a block for each of its pieces.
// The layout is in aof_format.md.
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
  uint64_t first_log = 0;  // no log older than this one continues this snapshot
  // Where in the first log that begins, and the log's checksum there; what is before it is void.
  // Offset 0: at the header of the first log, or of a later one.
  uint64_t first_offset = 0;
  uint32_t first_crc = 0;
};

// Writes a snapshot in slices. A thread of its own writes what has been appended, and keeps the
// disk busy with syncs, so that neither Append nor Finish waits for the disk: unless more than
// kMostQueuedSyncs times Options::sync_bytes wait in memory when a record is appended.
class BaseWriter final : public RecordSink {
 public:
  struct Options {
    size_t block_bytes = size_t{256} << 10;  // 64 KiB to kMaxPartBytes
    size_t sync_bytes = size_t{4} << 20;     // written bytes after which a sync follows
  };
  static constexpr size_t kMostQueuedSyncs = 4;

  // `file` is a new one of `files`.
  BaseWriter(FileSystem& files, std::unique_ptr<File> file, const BaseHeader& header,
             const Options& options);
  // Waits for what the thread is at. What was not written by then never is.
  ~BaseWriter() = default;
  BaseWriter(const BaseWriter&) = delete;
  BaseWriter& operator=(const BaseWriter&) = delete;

  size_t max_part_bytes() const override { return options_.block_bytes; }
  // After an error, which may be that of an earlier call's bytes, the snapshot is lost: the caller
  // removes the file.
  absl::Status Append(RecordPart part, std::string_view bytes) override;
  // Gives the last block and the footer to be written and synced. Nothing may be appended after.
  absl::Status Finish();
  // After Finish: true when the whole file is on disk; an error when it cannot be.
  absl::StatusOr<bool> PollSynced();
  // As PollSynced, but waits.
  absl::Status WaitSynced();

  // True while a sync's worth of bytes waits to be written: the caller does better to pause, and to
  // ask again later. False after an error, which the next Append returns.
  bool Throttled();
  uint64_t records() const { return records_; }
  // Appended so far, with what is still to be written.
  uint64_t bytes() const { return bytes_; }

 private:
  void BeginBlock();
  absl::Status AppendPiece(bool is_last, std::string_view piece);
  absl::Status EndBlock(char type);
  // Takes the result of what the thread has done, and gives it all that waits.
  absl::Status Advance();
  void StartWriting();

  std::unique_ptr<File> file_;
  Options options_;
  std::string block_;
  std::string queued_;   // whole blocks that wait to be written
  std::string writing_;  // the worker's while it is busy
  uint32_t crc_ = 0;
  uint64_t records_ = 0;
  uint64_t blocks_ = 0;
  uint64_t bytes_ = 0;
  uint64_t unsynced_bytes_ = 0;  // given to the worker since the last operation that syncs
  bool in_pieces_ = false;       // of a record whose last piece is still to come
  bool finished_ = false;
  absl::Status status_;                       // the first error, kept
  std::unique_ptr<BackgroundWorker> worker_;  // last: it has ended before the file closes
};

using RecordReader = absl::FunctionRef<absl::Status(std::string_view record)>;
// Told of the records that the reader is going to get next, at most kPreviewedRecords, so that what
// they will touch can be on its way into the cache.
using RecordPreview = absl::FunctionRef<void(std::span<const std::string_view> records)>;
inline constexpr size_t kPreviewedRecords = 32;

class BaseReader {
 public:
  static absl::StatusOr<std::unique_ptr<BaseReader>> Open(FileSystem& files,
                                                          const std::string& path,
                                                          uint64_t sequence);

  // Delivers the records of one block, after its checksum has been found right; false after the
  // footer. A record in pieces is delivered with its last one, and no memory is taken for a piece
  // that has not been read. DataLoss, with file and offset, for any damage: a snapshot has no
  // excusable tail.
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
  uint64_t dropped_ = 0;  // of the bytes before offset_, from the page cache
  uint32_t crc_ = 0;
  uint64_t records_ = 0;
  uint64_t blocks_ = 0;
  bool at_end_ = false;
  std::vector<char> buffer_;
  std::string pieces_;  // of a record whose last piece has not been read
};

}  // namespace tally::server
