// What the process's log says, for tests.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "server/log/log.h"

namespace tally::test {

class TemporaryFile {
 public:
  TemporaryFile() { ::close(::mkstemp(path_)); }
  ~TemporaryFile() { std::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const char* path() const { return path_; }
  std::string Read() const {
    std::stringstream content;
    content << std::ifstream(path_).rdbuf();
    return content.str();
  }

 private:
  char path_[32] = "/tmp/tally_log_test_XXXXXX";
};

class WrittenLog {
 public:
  WrittenLog() : logger_(*server::Logger::Open(file_.path(), server::LogLevel::kDebug)) {}

  server::Logger& logger() { return *logger_; }
  // The lines so far, from the level's mark on: "# message".
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    std::istringstream text(file_.Read());
    for (std::string line; std::getline(text, line);) {
      // "pid:M 02 Jan 2026 15:04:05.678 # message"
      constexpr size_t kDateAndTime = sizeof(":M 02 Jan 2026 15:04:05.678");
      lines.push_back(line.substr(line.find(':') + kDateAndTime));
    }
    return lines;
  }

 private:
  TemporaryFile file_;
  std::unique_ptr<server::Logger> logger_;
};

// While it lives, what is written to stderr goes to a file.
class CapturedStderr {
 public:
  CapturedStderr() : saved_(::dup(STDERR_FILENO)) {
    const int descriptor = ::open(file_.path(), O_WRONLY | O_APPEND);
    ::dup2(descriptor, STDERR_FILENO);
    ::close(descriptor);
  }
  ~CapturedStderr() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
  }
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  std::string Read() const { return file_.Read(); }

 private:
  TemporaryFile file_;
  int saved_;
};

}  // namespace tally::test
