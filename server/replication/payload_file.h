// The file that takes the data of a full sync, and the check of it: all of it is read and built
// once, into an engine beside that of the server, before anything that is here is dropped for it.
// Of a base, which has checksums of all blocks, only these are checked.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/engine/engine.h"
#include "server/aof/base_reader.h"
#include "server/aof/file_system.h"
#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/durability/move_options.h"
#include "server/durability/redis_loader.h"
#include "server/interfaces/command_runner.h"

namespace tally::server {

class PayloadFile {
 public:
  struct Parts {
    Engine& engine;
    const CommandTable& commands;
    CommandRunner& runner;
    const Config& config;
    FileSystem& files;
  };
  explicit PayloadFile(const Parts& parts) : parts_(parts) {}
  ~PayloadFile() { Remove(); }
  PayloadFile(const PayloadFile&) = delete;
  PayloadFile& operator=(const PayloadFile&) = delete;

  // Its name, in the server's folder.
  static const std::string& Path();

  // Begins an empty file.
  absl::Status Create();
  absl::Status Write(std::string_view bytes) { return AppendAll(*file_, bytes); }
  // Whether a tallyd has made it; valid once it is checked.
  bool is_base() const { return is_base_; }
  // All has been written.
  absl::Status BeginCheck(const MoveOptions& options);
  // Checks for about `budget_us`. Returns whether all is checked and right. Unimplemented for what
  // has no type here, unless the options say that it is skipped.
  absl::StatusOr<bool> Check(int64_t budget_us);
  // Removes the file, if there is one.
  void Remove();

 private:
  absl::StatusOr<bool> CheckBase(int64_t budget_us);
  absl::Status JudgeSkipped() const;
  void EmptyScratch(size_t most_keys);

  const Parts parts_;
  MoveOptions options_;
  std::unique_ptr<File> file_;       // null unless it is written
  std::unique_ptr<Engine> scratch_;  // both are null unless it is checked
  std::unique_ptr<RedisLoader> loader_;
  std::unique_ptr<BaseReader> base_;  // null unless it is checked, and is a base
  bool exists_ = true;                // perhaps: a process before this one may have left it
  bool is_base_ = false;
};

}  // namespace tally::server
