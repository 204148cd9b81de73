// The files of the data set: their directory, which is opened when it is first needed, and how much
// is in them.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>

#include "server/aof/aof_directory.h"
#include "server/aof/file_system.h"
#include "server/config/config.h"

namespace tally::server {

class DataFiles {
 public:
  DataFiles(FileSystem& system, const Config& config) : system_(system), config_(config) {}
  DataFiles(const DataFiles&) = delete;
  DataFiles& operator=(const DataFiles&) = delete;

  // Whether the directory is on the disk.
  bool Exists() const;
  // Opens the directory, or makes it. Nothing happens if it is open.
  absl::Status Open();

  FileSystem& system() const { return system_; }
  // Requires that it is open.
  AofDirectory& directory() const;

  uint64_t base_bytes() const { return base_bytes_; }
  // Of the logs, what the base does not have, when the current log has `current` bytes.
  uint64_t BytesSinceBase(uint64_t current) const;

  // The files have been loaded: their base has `base` bytes, and the logs before the current one
  // have `older_logs`, less what the base has of the current one.
  void Loaded(uint64_t base, int64_t older_logs);
  // Another log follows the current one, which has `bytes`.
  void LogFollowed(uint64_t bytes);
  // A new base has `base` bytes, and the first `covered` of the log that continues it are in it.
  void BaseReplaced(uint64_t base, uint64_t covered);
  // No log is written any more.
  void LogEnded() { older_log_bytes_ = 0; }

 private:
  FileSystem& system_;
  const Config& config_;
  std::unique_ptr<AofDirectory> directory_;
  uint64_t base_bytes_ = 0;
  int64_t older_log_bytes_ = 0;  // see Loaded
};

}  // namespace tally::server
