// Reads an incremental log batch by batch. No command of a batch is delivered before the checksum
// of the whole batch has been found right.
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

// Called for each command; the views live until it returns. An error stops the replay and is
// returned with the file and the offset of the command.
using CommandSink = absl::FunctionRef<absl::Status(std::span<const std::string_view> args)>;

class LogReader {
 public:
  enum class Step : uint8_t {
    kBatch,  // one batch was delivered
    kEnd,    // the log ends after a whole batch
    kTorn,   // the last batch is incomplete, as a crash leaves it: nothing of it was delivered
  };

  // Reads the header. `sequence` is the manifest's. DataLoss when the header is damaged; a file
  // that ends within its header is "torn" at offset 0 and has no header().
  static absl::StatusOr<std::unique_ptr<LogReader>> Open(FileSystem& files, const std::string& path,
                                                         uint64_t sequence);

  // Reads one batch. DataLoss, with file and offset, for any damage that no torn append explains.
  absl::StatusOr<Step> NextBatch(CommandSink on_command);

  // Before anything is read: what is before this place, which is after a batch or the header,
  // is void. DataLoss if the log ends before.
  absl::Status BeginAt(uint64_t offset, uint32_t crc);
  // What the next log's header says of the end of this one: reading stops there, and a log that
  // does not reach exactly this place is damaged, never torn.
  void ExpectEnd(uint64_t offset, uint32_t crc);

  const std::optional<LogHeader>& header() const { return header_; }
  const std::string& path() const { return file_->path(); }
  // Behind the last whole batch.
  const LogPosition& position() const { return position_; }
  uint64_t file_size() const { return file_size_; }
  // From position() to the end of what is to be read: what truncating would lose.
  uint64_t tail_bytes() const { return end_ - position_.offset; }
  // This much of the file is known to have been on disk, from what the batches read say.
  uint64_t synced() const { return synced_; }
  uint64_t batches() const { return batches_; }
  uint64_t commands() const { return commands_; }

 private:
  // What is after the last whole batch.
  struct TailEvidence {
    bool own_annotation = false;               // the end of the batch that starts there
    std::optional<uint64_t> later_batch;       // offset of the first batch after that one
    uint64_t synced = 0;                       // the most that a later batch says to be on disk
    std::optional<uint64_t> unwritten_sector;  // offset of the first disk sector of zeros only
  };

  LogReader(std::unique_ptr<File> file, uint64_t sequence, uint64_t size);

  absl::Status ReadHeader();
  // The unread bytes from position() that are in memory.
  std::string_view Window() const;
  // Makes the window at least `size` bytes long; false when the log ends before.
  absl::StatusOr<bool> Grow(size_t size);
  // The log ends within a batch, of which `scanned` bytes are whole commands, or after one.
  absl::StatusOr<Step> AtEndOfFile(size_t scanned);
  absl::StatusOr<Step> CheckBatch(size_t length, CommandSink on_command);
  absl::Status Deliver(std::string_view batch, CommandSink on_command);
  // The batch at position() is not whole: kTorn, or DataLoss (at `offset`, because of `why`)?
  // `incomplete`: what is there may well be the beginning of a batch.
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
