#include "server/log.h"

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>

namespace tally::server {
namespace {

void AppendPrintable(std::string_view message, std::string& out) {
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppendFormat(&out, "\\x%02x", byte);
    } else {
      out += c;
    }
  }
}

void WriteAll(int descriptor, std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(descriptor, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    data.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Logger>> Logger::Open(std::string_view path, LogLevel level) {
  int descriptor = STDOUT_FILENO;
  if (!path.empty()) {
    const std::string name(path);
    descriptor = ::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) {
      return absl::ErrnoToStatus(errno, StrCat("can't open the log file '", name, "'"));
    }
  }
  return std::unique_ptr<Logger>(new Logger(descriptor, level));
}

Logger::~Logger() {
  if (descriptor_ != STDOUT_FILENO) ::close(descriptor_);
}

void Logger::Write(LogLevel level, std::string_view message) const {
  if (!Enabled(level)) return;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const int64_t unix_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  WriteAll(descriptor_, FormatLogLine(level, unix_ms, ::getpid(), message));
}

std::string FormatLogLine(LogLevel level, int64_t unix_ms, int64_t pid, std::string_view message) {
  static constexpr std::string_view kMarks = ".-*#";
  const std::time_t seconds = unix_ms / 1000;
  std::tm local{};
  ::localtime_r(&seconds, &local);
  char date[32];
  const size_t length = std::strftime(date, sizeof(date), "%d %b %Y %H:%M:%S", &local);
  std::string line = absl::StrFormat("%d:M %s.%03d %c ", pid, std::string_view(date, length),
                                     unix_ms % 1000, kMarks[static_cast<size_t>(level)]);
  AppendPrintable(message, line);
  line += '\n';
  return line;
}

}  // namespace tally::server
