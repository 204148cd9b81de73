// Reads the commands of a primary's stream from bytes that may be cut anywhere, and counts the
// bytes of each: the stream's offsets are bytes. It knows no sockets.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

class RedisStreamReader {
 public:
  // `most_bytes` is how many bytes one command may have.
  explicit RedisStreamReader(size_t most_bytes) : most_bytes_(most_bytes) {}

  void Take(std::string_view bytes);
  // Whether a command was read; otherwise more bytes are needed. DataLoss if what came is no
  // command, or too large a one: nothing may be read after that.
  absl::StatusOr<bool> Next();

  // The command that Next has read: its words, until the next call of Take or Next, and how many
  // bytes of the stream it has.
  const std::vector<std::string_view>& args() const { return args_; }
  size_t size() const { return size_; }
  // The bytes that were taken and not read.
  size_t waiting() const { return buffer_.size() - begin_; }

 private:
  struct Word {
    size_t begin;  // after the command's first byte
    size_t length;
  };

  void DropRead();
  // Reads a line of `type` and a number at scanned_. False if it is not complete.
  absl::StatusOr<bool> ReadNumber(char type, uint64_t most, uint64_t& number);
  absl::StatusOr<bool> ReadWord();
  absl::Status NotACommand() const;
  std::string_view rest() const { return std::string_view(buffer_).substr(begin_ + scanned_); }

  const size_t most_bytes_;
  std::string buffer_;
  size_t begin_ = 0;    // of the command that is read
  size_t scanned_ = 0;  // bytes of it that were looked at
  size_t size_ = 0;     // of the command that was read last, which is before begin_
  uint64_t words_left_ = 0;
  bool in_word_ = false;
  uint64_t word_length_ = 0;  // with in_word_
  std::vector<Word> words_;
  std::vector<std::string_view> args_;
};

}  // namespace tally::server
