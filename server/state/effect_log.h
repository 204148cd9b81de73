// Where the effects of commands are written, as RESP commands that give the same state at any later
// time. Knows no files: the append-only file gives it a buffer while there is one.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "server/command/command.h"

namespace tally::server {

// Appends a command as a RESP array of bulk strings.
void AppendRespCommand(std::string& out, Args args);

class EffectLog {
 public:
  // Null while nothing is logged.
  void set_buffer(std::string* buffer) {
    buffer_ = buffer;
    block_bytes_ = 0;
  }
  bool enabled() const { return buffer_ != nullptr; }
  // The next effect is preceded by a SELECT: a new log file begins.
  void ForgetDatabase() { database_ = kNone; }

  void Append(size_t database, Args args);
  void Append(size_t database, std::initializer_list<std::string_view> args) {
    Append(database, Args(args.begin(), args.size()));
  }

  // While one lives the effects belong together: a transaction's, or a script's. Those of a block
  // inside another belong to that.
  class Block {
   public:
    explicit Block(EffectLog& log) : log_(log), is_outermost_(!log.in_block_) { log.BeginBlock(); }
    ~Block() {
      if (is_outermost_) log_.EndBlock();
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

   private:
    EffectLog& log_;
    const bool is_outermost_;
  };
  // Takes the effects of the block out of the buffer, and those that still come in it are dropped:
  // for a server that ends in the middle of one.
  void AbandonBlock();
  // So many bytes at the buffer's end are of a block that has not ended.
  size_t unfinished_bytes() const { return block_bytes_; }

 private:
  void BeginBlock() { in_block_ = true; }
  void EndBlock();

  static constexpr size_t kNone = SIZE_MAX;
  std::string* buffer_ = nullptr;
  size_t database_ = kNone;
  size_t block_bytes_ = 0;
  bool in_block_ = false;
  bool abandoned_ = false;
};

}  // namespace tally::server
