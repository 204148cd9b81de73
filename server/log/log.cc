#include "server/log/log.h"

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <poll.h>
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

// As many bytes as a pipe that is writable takes at once (PIPE_BUF): a line is written, or not.
constexpr size_t kMostLine = 4096;

// Whether a write would not wait. That of a file never does, as far as poll can tell.
bool IsWritable(int descriptor) {
  pollfd asked{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;
}

enum class Written : uint8_t { kAll, kFailed, kWouldWait };

Written WriteAll(int descriptor, std::string_view data) {
  while (!data.empty()) {
    if (!IsWritable(descriptor)) return Written::kWouldWait;
    const ssize_t written = ::write(descriptor, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Written::kFailed;
    data.remove_prefix(static_cast<size_t>(written));
  }
  return Written::kAll;
}

int64_t UnixMillis() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

// A FIFO that nobody reads is an error: to open it would wait for the reader.
absl::StatusOr<int> OpenToAppend(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_APPEND;
  const int descriptor = ::open(path.c_str(), kFlags | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
  if (descriptor >= 0) {
    ::fcntl(descriptor, F_SETFL, kFlags);
    return descriptor;
  }
  return absl::ErrnoToStatus(errno, StrCat("can't open the log file '", path, "'"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Logger>> Logger::Open(std::string_view path, LogLevel level) {
  std::string name(path);
  if (name.empty()) {
    return std::unique_ptr<Logger>(new Logger(std::move(name), STDOUT_FILENO, level));
  }
  const absl::StatusOr<int> descriptor = OpenToAppend(name);
  if (!descriptor.ok()) return descriptor.status();
  return std::unique_ptr<Logger>(new Logger(std::move(name), *descriptor, level));
}

// The new file gets the old one's descriptor number. So a line that another thread writes meanwhile
// goes to one of the two files.
absl::Status Logger::Reopen() {
  if (path_.empty()) return absl::OkStatus();
  const absl::StatusOr<int> opened = OpenToAppend(path_);
  if (!opened.ok()) return opened.status();
  const bool replaced = ::dup3(*opened, descriptor_, O_CLOEXEC) >= 0;
  const int error = errno;
  ::close(*opened);
  return replaced ? absl::OkStatus() : absl::ErrnoToStatus(error, "can't replace the log file");
}

Logger::~Logger() {
  if (descriptor_ != STDOUT_FILENO) ::close(descriptor_);
}

void Logger::Write(LogLevel level, std::string_view message) const {
  if (!Enabled(level)) return;
  const std::string line = FormatLogLine(level, UnixMillis(), ::getpid(), message);
  const uint64_t unread = unread_.exchange(0);
  std::string gap;
  if (unread > 0) {
    gap = FormatLogLine(LogLevel::kWarning, UnixMillis(), ::getpid(),
                        StrCat("Nobody read the log: ", unread, " messages were lost."));
  }
  // Nothing is allocated under the lock: where memory runs out, that is logged.
  const std::lock_guard lock(mutex_);
  if (WriteAll(descriptor_, gap) == Written::kWouldWait) {
    unread_ += unread + 1;
    return;
  }
  const Written written = WriteAll(descriptor_, line);
  if (written == Written::kWouldWait) ++unread_;
  if (written == Written::kFailed && level == LogLevel::kWarning && !path_.empty()) {
    WriteAll(STDERR_FILENO, line);
  }
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
  if (line.size() >= kMostLine) line.replace(kMostLine - 4, std::string::npos, "...");
  line += '\n';
  return line;
}

}  // namespace tally::server
