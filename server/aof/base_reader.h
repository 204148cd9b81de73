// Reads the base file (base_format.h) and checks every byte of it.
#pragma once

#include <cstddef>
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
#include "server/aof/base_format.h"
#include "server/aof/file_system.h"

namespace tally::server {

using RecordReader = absl::FunctionRef<absl::Status(std::string_view record)>;
// Called with the records that the RecordReader gets next, at most kPreviewedRecords, so that the
// memory that they will touch can be prefetched.
using RecordPreview = absl::FunctionRef<void(std::span<const std::string_view> records)>;
inline constexpr size_t kPreviewedRecords = 32;

class BaseReader {
 public:
  // Without `sequence` the file may be of any manifest: another server has made it. It is checked,
  // loaded and removed at once, so it stays in the page cache. Another file leaves it as it is
  // read.
  static absl::StatusOr<std::unique_ptr<BaseReader>> Open(FileSystem& files,
                                                          const std::string& path,
                                                          std::optional<uint64_t> sequence);
  // Whether the file begins as one of this form does.
  static absl::StatusOr<bool> IsBase(FileSystem& files, const std::string& path);

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

  absl::Status ReadHeader(std::optional<uint64_t> sequence);
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
  bool drops_ = true;     // whether what was read leaves the page cache
  uint64_t dropped_ = 0;  // bytes in front that have left it
  uint32_t crc_ = 0;
  uint64_t records_ = 0;
  uint64_t blocks_ = 0;
  bool at_end_ = false;
  std::vector<char> buffer_;
  std::string pieces_;  // read pieces of a record that is not complete
};

}  // namespace tally::server
