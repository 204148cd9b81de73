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
  void set_buffer(std::string* buffer) { buffer_ = buffer; }
  bool enabled() const { return buffer_ != nullptr; }
  // The next effect is preceded by a SELECT: a new log file begins.
  void ForgetDatabase() { database_ = kNone; }

  void Append(size_t database, Args args);
  void Append(size_t database, std::initializer_list<std::string_view> args) {
    Append(database, Args(args.begin(), args.size()));
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  std::string* buffer_ = nullptr;
  size_t database_ = kNone;
};

}  // namespace tally::server
