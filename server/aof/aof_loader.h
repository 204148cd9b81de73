// Loads the data set that a manifest names: the base, then its logs. Each step loads one block or
// batch, so that the server can answer LOADING between the steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/aof/aof_directory.h"
#include "server/aof/base_reader.h"
#include "server/aof/log_reader.h"

namespace tally::server {

class AofLoader {
 public:
  // `load_truncated` is the setting aof-load-truncated. If it is true, a torn tail is to be
  // truncated; otherwise it stops the start (DataLoss).
  static absl::StatusOr<std::unique_ptr<AofLoader>> Open(const AofDirectory& directory,
                                                         bool load_truncated);

  // Makes the first of `logs` begin at the offset where it continues the base. DataLoss if that log
  // is missing or ends before this offset; without a base, if the first log is not the beginning.
  static absl::Status BeginLogs(const std::optional<BaseHeader>& base,
                                std::span<const std::unique_ptr<LogReader>> logs);

  // Loads one block of the base or one batch of a log; returns false when all is loaded. DataLoss,
  // with file and offset, for damage.
  absl::StatusOr<bool> Step(RecordReader on_record, RecordPreview preview, CommandSink on_command);

  // The position at which LogWriter::Open continues.
  const LogPosition& end() const { return end_; }
  // This many bytes of that log are known to have been on disk.
  uint64_t synced() const { return synced_; }
  // The torn tail of the last log: the path of the file and the number of bytes to truncate. Empty
  // and 0 if the log is whole.
  const std::string& torn_path() const { return torn_path_; }
  uint64_t torn_bytes() const { return torn_bytes_; }

  uint64_t bytes_total() const { return bytes_total_; }
  // The part of bytes_total() that is the base.
  uint64_t base_bytes() const { return base_ == nullptr ? 0 : base_->file_size(); }
  // The part of bytes_total() that is skipped, because the base covers it: the bytes of the first
  // log before the offset where it continues the base.
  uint64_t covered_bytes() const { return base_ == nullptr ? 0 : base_->header().first_offset; }
  uint64_t bytes_done() const;
  uint64_t records() const { return base_ == nullptr ? 0 : base_->records(); }
  uint64_t commands() const;

 private:
  explicit AofLoader(bool load_truncated) : load_truncated_(load_truncated) {}

  absl::Status OpenBase(const AofDirectory& directory);
  absl::Status OpenLogs(const AofDirectory& directory);
  absl::Status FinishLog(LogReader::Step step);

  bool load_truncated_;
  std::unique_ptr<BaseReader> base_;
  bool base_done_ = true;
  std::vector<std::unique_ptr<LogReader>> logs_;  // those with a header
  size_t current_ = 0;
  LogPosition end_;
  uint64_t synced_ = 0;
  std::string torn_path_;
  uint64_t torn_bytes_ = 0;
  uint64_t bytes_total_ = 0;
};

}  // namespace tally::server
