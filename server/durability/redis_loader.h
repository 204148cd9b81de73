// Loads the files of Redis into the engine, in steps: snapshots, logs, and snapshots that are
// followed by a log.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "server/aof/file_system.h"
#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/durability/move_options.h"
#include "server/durability/redis_files.h"
#include "server/durability/redis_log_reader.h"
#include "server/durability/redis_replay.h"
#include "server/interfaces/command_runner.h"
#include "server/rdb/engine_sink.h"
#include "server/rdb/rdb_reader.h"
#include "server/rdb/skipped_values.h"

namespace tally::server {

class RedisLoader {
 public:
  struct Parts {
    Engine& engine;
    const CommandTable& commands;
    CommandRunner& runner;
    const Config& config;
    const MoveOptions& options;
    FileSystem& files;
  };
  ~RedisLoader();
  RedisLoader(const RedisLoader&) = delete;
  RedisLoader& operator=(const RedisLoader&) = delete;

  // Opens all files.
  static absl::StatusOr<std::unique_ptr<RedisLoader>> Open(const Parts& parts, RedisFiles redis);

  // Loads a key, some elements of a large value, or a command; returns false when all is loaded.
  // DataLoss, with file and offset, for damage.
  absl::StatusOr<bool> Step(int64_t now_ms);

  uint64_t bytes_done() const;
  uint64_t bytes_total() const { return bytes_total_; }
  const RedisFiles& redis() const { return redis_; }
  const rdb::SkippedValues& skipped() const { return skipped_; }
  // What was left out: "12 keys that had expired, 3 without elements". Empty if there was nothing.
  std::string LeftOut() const;
  // Bytes at the end of the last file that are a part of a command, or of a transaction.
  uint64_t torn_bytes() const { return torn_bytes_; }

 private:
  class Source;
  struct Input {
    std::unique_ptr<File> file;
    uint64_t size = 0;
  };

  RedisLoader(const Parts& parts, RedisFiles redis);
  absl::Status OpenFiles();
  absl::Status BeginFile();
  absl::StatusOr<bool> StepSnapshot(int64_t now_ms);
  absl::StatusOr<bool> StepLog();
  absl::Status EndLog();
  // Whether nobody has written to the file since it was opened.
  absl::Status EndFile();
  absl::Status AtFile(const absl::Status& status) const;
  const Input& input() const { return inputs_[current_]; }

  const Parts parts_;
  const RedisFiles redis_;
  rdb::SkippedValues skipped_;
  rdb::EngineSink sink_;
  RedisReplay replay_;
  std::vector<Input> inputs_;
  uint64_t bytes_total_ = 0;
  uint64_t bytes_before_ = 0;  // of the files that are loaded
  size_t current_ = 0;
  bool begun_ = false;  // with the current file
  std::unique_ptr<Source> source_;
  std::unique_ptr<rdb::RdbReader> snapshot_;  // null after a snapshot's end
  std::unique_ptr<RedisLogReader> log_;       // null while there is a snapshot
  uint64_t whole_end_ = 0;                    // where the last command or transaction ends
  uint64_t torn_bytes_ = 0;
};

}  // namespace tally::server
