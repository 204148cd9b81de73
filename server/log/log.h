// The process's log: one line for each message, in the format that tools for redis-server's log
// read.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
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

  // Writes the message if the level is enabled. The log must not stop the server. On a full disk a
  // warning goes to stderr instead, and any other message is lost. While a pipe, a socket or a
  // terminal takes nothing, because whoever should read it does not, all messages are lost; the
  // next one that it takes follows a line that says how many.
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
  mutable std::mutex mutex_;                  // held while a line is written
  mutable std::atomic<uint64_t> unread_ = 0;  // messages lost because nobody read the log
};

// "pid:M 02 Jan 2026 15:04:05.678 * message\n", local time, with `.`, `-`, `*` or `#` for the
// level. Control bytes of the message are written as \xNN, so that no client can forge a line.
// A line has at most 4096 bytes; one that was longer ends with "...".
std::string FormatLogLine(LogLevel level, int64_t unix_ms, int64_t pid, std::string_view message);

}  // namespace tally::server
