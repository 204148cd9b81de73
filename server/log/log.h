// The process's log: one line for each message, in the format that tools for redis-server's log
// read.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/log/log_level.h"

namespace tally::server {

// Safe to call from any thread: a line is written by one write(2), and the file is opened for
// appending.
class Logger {
 public:
  // Appends to the file at `path`, created if missing; an empty path means stdout.
  static absl::StatusOr<std::unique_ptr<Logger>> Open(std::string_view path, LogLevel level);

  // Opens the path again and goes on there, in case the file was renamed or removed (SIGHUP). If
  // the path cannot be opened, returns the error and goes on in the old file. Does nothing for
  // stdout.
  absl::Status Reopen();

  ~Logger();
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;

  LogLevel level() const { return level_.load(std::memory_order_relaxed); }
  void set_level(LogLevel level) { level_.store(level, std::memory_order_relaxed); }
  bool Enabled(LogLevel level) const { return level >= this->level(); }

  // Writes the message if the level is enabled. A full disk must not stop the server through its
  // log: a warning that the file does not take goes to stderr, and any other message is lost.
  void Write(LogLevel level, std::string_view message) const;

  // The parts are joined by StrCat, and only if the level is enabled.
  template <typename... Parts>
  void Debug(const Parts&... parts) const {
    Join(LogLevel::kDebug, parts...);
  }
  template <typename... Parts>
  void Verbose(const Parts&... parts) const {
    Join(LogLevel::kVerbose, parts...);
  }
  template <typename... Parts>
  void Notice(const Parts&... parts) const {
    Join(LogLevel::kNotice, parts...);
  }
  template <typename... Parts>
  void Warning(const Parts&... parts) const {
    Join(LogLevel::kWarning, parts...);
  }

 private:
  Logger(std::string path, int descriptor, LogLevel level)
      : path_(std::move(path)), descriptor_(descriptor), level_(level) {}

  template <typename... Parts>
  void Join(LogLevel level, const Parts&... parts) const {
    if (Enabled(level)) Write(level, StrCat(parts...));
  }

  const std::string path_;  // empty: stdout
  const int descriptor_;
  std::atomic<LogLevel> level_;
};

// "pid:M 02 Jan 2026 15:04:05.678 * message\n", local time, with `.`, `-`, `*` or `#` for the
// level. Control bytes of the message are written as \xNN, so that no client can forge a line.
std::string FormatLogLine(LogLevel level, int64_t unix_ms, int64_t pid, std::string_view message);

}  // namespace tally::server
