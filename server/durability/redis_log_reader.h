// Reads the commands of a log of Redis, one by one, in memory of the largest of them.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/aof/file_system.h"
#include "server/command/arguments.h"

namespace tally::server {

class RedisLogReader {
 public:
  // Begins at `offset` of the file, which has `size` bytes.
  RedisLogReader(File& file, uint64_t offset, uint64_t size)
      : file_(file), begin_(offset), size_(size) {}

  enum class Step { kCommand, kEnd, kTorn };
  // kCommand: args() are those of the next command. kTorn: the file ends within a command, which
  // begins at offset(). DataLoss, with the offset, for anything that is no command.
  absl::StatusOr<Step> Next();

  // Valid until the next call.
  Args args() const { return args_; }
  // Of the first byte after the last command.
  uint64_t offset() const { return begin_ + position_; }

 private:
  // Returns false if the file has no `needed` bytes from offset() on.
  absl::StatusOr<bool> Grow(uint64_t needed);
  // A line that Redis writes with aof-timestamp-enabled. Returns false if the file ends within it.
  absl::StatusOr<bool> PassAnnotation();
  std::string_view Window() const { return {buffer_.data() + position_, filled_ - position_}; }

  File& file_;
  uint64_t begin_;  // of the buffer
  const uint64_t size_;
  std::string buffer_;
  size_t filled_ = 0;
  size_t position_ = 0;  // in the buffer
  std::vector<std::string_view> args_;
};

}  // namespace tally::server
