// Reads an incremental log batch by batch. No command of a batch is delivered before the checksum
// of the whole batch has been checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/aof/file_system.h"
#include "server/aof/log_format.h"

namespace tally::server {

// Called for each command; the views are valid until it returns. An error stops the replay and is
// returned with the file and the offset of the command.
using CommandSink = absl::FunctionRef<absl::Status(std::span<const std::string_view> args)>;

class LogReader {
 public:
  enum class Step : uint8_t {
    kBatch,  // one batch was delivered
    kEnd,    // the log ends after a whole batch
    kTorn,   // the last batch is incomplete, as after a crash; nothing of it was delivered
  };

  // Reads the header. `sequence` is the manifest's. DataLoss if the header is damaged. A log whose
  // header is incomplete, or never reached the disk, has no header(); NextBatch then returns kTorn,
  // or kEnd if the file is empty.
  static absl::StatusOr<std::unique_ptr<LogReader>> Open(FileSystem& files, const std::string& path,
                                                         uint64_t sequence);

  // Reads one batch. DataLoss, with file and offset, for any damage that an interrupted append
  // cannot explain.
  absl::StatusOr<Step> NextBatch(CommandSink on_command);

  // Starts reading at `offset`; what is before it is void. It must be the end of a batch or of the
  // header, and `crc` its checksum. To be called before the first NextBatch. DataLoss if the log
  // ends before `offset`.
  absl::Status BeginAt(uint64_t offset, uint32_t crc);
  // Sets the end of this log, which the header of the next log names: reading stops there. A log
  // that does not end exactly there is damaged, never torn.
  void ExpectEnd(uint64_t offset, uint32_t crc);

  const std::optional<LogHeader>& header() const { return header_; }
  const std::string& path() const { return file_->path(); }
  // The end of the last whole batch that was read.
  const LogPosition& position() const { return position_; }
  uint64_t file_size() const { return file_size_; }
  // Bytes from position() to the end of the log: what truncating at position() would remove.
  uint64_t tail_bytes() const { return end_ - position_.offset; }
  // This many bytes of the file are known to have been on disk, according to the batches read.
  uint64_t synced() const { return synced_; }
  uint64_t batches() const { return batches_; }
  uint64_t commands() const { return commands_; }

 private:
  // What was found after the last whole batch. "The bad batch" is the one at position().
  struct TailEvidence {
    bool own_annotation = false;               // the annotation of the bad batch is there
    std::optional<uint64_t> later_batch;       // offset of the first batch after the bad one
    uint64_t synced = 0;                       // the largest `synced` of all later batches
    std::optional<uint64_t> unwritten_sector;  // offset of the first disk sector of zeros
  };

  LogReader(std::unique_ptr<File> file, uint64_t sequence, uint64_t size);

  absl::Status ReadHeader();
  // The unread bytes from position() that are in memory.
  std::string_view Window() const;
  // Makes the window at least `size` bytes long; returns false if the log ends before.
  absl::StatusOr<bool> Grow(size_t size);
  // Called when the log ends after a whole batch, or within a batch of which the first `scanned`
  // bytes are whole commands.
  absl::StatusOr<Step> AtEndOfFile(size_t scanned);
  absl::StatusOr<Step> CheckBatch(size_t length, CommandSink on_command);
  absl::Status Deliver(std::string_view batch, CommandSink on_command);
  // Decides about the batch at position(), which is not whole: kTorn, or DataLoss at `offset` with
  // the reason `why`. `incomplete`: the bytes may be the beginning of a correct batch.
  absl::StatusOr<Step> JudgeTail(uint64_t offset, std::string_view why, bool incomplete);
  absl::StatusOr<TailEvidence> ExamineTail();
  void FindAnnotations(std::string_view bytes, size_t from, uint64_t bytes_offset,
                       TailEvidence& evidence) const;
  absl::Status Damaged(uint64_t offset, std::string_view why) const;

  std::unique_ptr<File> file_;
  uint64_t file_size_;
  uint64_t end_;
  std::optional<LogHeader> header_;
  std::optional<LogPosition> expected_end_;
  LogPosition position_;
  uint64_t synced_ = 0;
  uint64_t batches_ = 0;
  uint64_t commands_ = 0;

  std::vector<char> buffer_;
  uint64_t buffer_offset_ = 0;  // file offset of buffer_[0]
  size_t filled_ = 0;
  std::vector<std::string_view> args_;
};

}  // namespace tally::server
