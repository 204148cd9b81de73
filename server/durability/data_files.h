// The files of the data set: their directory, which is opened when it is first needed, and their
// sizes.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <string>

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
  // Opens the directory, and creates it if it does not exist. Does nothing if it is open already.
  absl::Status Open();

  // Opens a directory beside that of the data, without what an earlier try has left in it.
  absl::Status OpenBeside();
  // Makes the directory of OpenBeside that of the data. None may be there.
  absl::Status PutInPlace();
  // Ends what was interrupted in PutInPlace, if a complete directory is there for it.
  absl::Status FinishPutting();

  // Removes the data, which a newer file of another form replaces. The directory must be open. For
  // the worker.
  absl::Status Retire() const { return directory().Clear(); }

  FileSystem& system() const { return system_; }
  // Requires that the directory is open; this is asserted.
  AofDirectory& directory() const;

  uint64_t base_bytes() const { return base_bytes_; }
  // Returns how many bytes of the logs the base does not cover, when the current log has `current`
  // bytes.
  uint64_t BytesSinceBase(uint64_t current) const;

  // The files have been loaded. The base has `base` bytes. `older_logs` is the bytes of the logs
  // before the current one, minus the bytes of the logs that the base covers; it may be negative.
  void Loaded(uint64_t base, int64_t older_logs);
  // A new log follows the log that was current, which has `bytes` bytes.
  void LogFollowed(uint64_t bytes);
  // A new base of `base` bytes replaces the old one. It covers the first `covered` bytes of the log
  // that continues it.
  void BaseReplaced(uint64_t base, uint64_t covered);
  // No log is written any more.
  void LogEnded() { older_log_bytes_ = 0; }

 private:
  std::string beside() const { return config_.appenddirname + ".new"; }

  FileSystem& system_;
  const Config& config_;
  std::unique_ptr<AofDirectory> directory_;
  uint64_t base_bytes_ = 0;
  int64_t older_log_bytes_ = 0;  // see Loaded
};

}  // namespace tally::server
