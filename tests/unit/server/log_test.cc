#include "server/log/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "written_log.h"

namespace tally::server::log_test {
namespace {

using test::TemporaryFile;

// Digits as 9, letters as x or X after the role, anything else as it is.
std::string Shape(std::string line) {
  for (size_t i = line.find(":M") + 2; i < line.size(); ++i) {
    if (line[i] >= 'a' && line[i] <= 'z') line[i] = 'x';
    if (line[i] >= 'A' && line[i] <= 'Z') line[i] = 'X';
  }
  for (char& c : line) {
    if (c >= '0' && c <= '9') c = '9';
  }
  return line;
}

TEST_CASE("log: a line has redis-server's form and cannot be forged") {
  const std::string line = FormatLogLine(LogLevel::kNotice, 1'767'366'245'007, 42, "Ready");
  CHECK(Shape(line) == "99:M 99 Xxx 9999 99:99:99.999 * Xxxxx\n");
  CHECK(line.find("2026 ") != std::string::npos);
  CHECK(line.find(":05.007 * Ready\n") != std::string::npos);
  CHECK(FormatLogLine(LogLevel::kWarning, 0, 1, "a\r\nb").find(" # a\\x0d\\x0ab\n") !=
        std::string::npos);
}

TEST_CASE("log: a line has at most 4096 bytes") {
  const size_t around = FormatLogLine(LogLevel::kNotice, 0, 1, "").size();
  const std::string fits(4096 - around, 'x');
  CHECK(FormatLogLine(LogLevel::kNotice, 0, 1, fits).ends_with(" " + fits + "\n"));
  const std::string cut = FormatLogLine(LogLevel::kNotice, 0, 1, fits + "y");
  CHECK(cut.size() == 4096);
  CHECK(cut.ends_with("xxx...\n"));
}

TEST_CASE("log: a file that was renamed is left for a new one, also under another thread") {
  const TemporaryFile file;
  const auto logger = Logger::Open(file.path(), LogLevel::kNotice);
  REQUIRE(logger.ok());
  constexpr int kLines = 500;
  std::thread other([&] {
    for (int i = 0; i < kLines; ++i) (*logger)->Notice("other");
  });
  (*logger)->Notice("before");
  const std::string old = std::string(file.path()) + ".1";
  REQUIRE(std::rename(file.path(), old.c_str()) == 0);
  REQUIRE((*logger)->Reopen().ok());
  (*logger)->Notice("after");
  other.join();
  const auto content = [](const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  const std::string first = content(old), second = file.Read();
  CHECK(first.find("before\n") != std::string::npos);
  CHECK(first.find("after") == std::string::npos);
  CHECK(second.find("after\n") != std::string::npos);
  const std::string both = first + second;
  CHECK(std::count(both.begin(), both.end(), '\n') == kLines + 2);
  std::remove(old.c_str());
}

TEST_CASE("log: where no new file can be opened, the old one goes on") {
  char directory[] = "/tmp/tally_log_test_XXXXXX";
  REQUIRE(::mkdtemp(directory) != nullptr);
  const std::string path = std::string(directory) + "/log";
  const auto logger = Logger::Open(path, LogLevel::kNotice);
  REQUIRE(logger.ok());
  const std::string kept = std::string(directory) + ".log";
  REQUIRE(std::rename(path.c_str(), kept.c_str()) == 0);
  REQUIRE(std::remove(directory) == 0);
  CHECK((*logger)->Reopen().message().find(path) != std::string::npos);
  (*logger)->Notice("still here");
  std::stringstream text;
  text << std::ifstream(kept).rdbuf();
  CHECK(text.str().find("still here") != std::string::npos);
  std::remove(kept.c_str());
}

TEST_CASE("log: only enabled levels are written") {
  const TemporaryFile file;
  const auto logger = Logger::Open(file.path(), LogLevel::kNotice);
  REQUIRE(logger.ok());
  (*logger)->Verbose("hidden");
  (*logger)->Notice("port ", 6379);
  (*logger)->set_level(LogLevel::kDebug);
  (*logger)->Debug("shown");
  const std::string text = file.Read();
  CHECK(text.find("hidden") == std::string::npos);
  CHECK(text.find(" * port 6379\n") != std::string::npos);
  CHECK(text.find(" . shown\n") != std::string::npos);
}

TEST_CASE("log: lines of several threads stay whole", "[threads]") {
  const TemporaryFile file;
  const auto logger = Logger::Open(file.path(), LogLevel::kNotice);
  REQUIRE(logger.ok());
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&logger] {
      for (int line = 0; line < 200; ++line) (*logger)->Notice("from a thread");
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::istringstream lines(file.Read());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    REQUIRE(Shape(line).substr(line.find(':')) == ":M 99 Xxx 9999 99:99:99.999 * xxxx x xxxxxx");
  }
  CHECK(count == 800);
}

TEST_CASE("log: a pipe that nobody reads loses messages, and then says how many") {
  char directory[] = "/tmp/tally_log_test_XXXXXX";
  REQUIRE(::mkdtemp(directory) != nullptr);
  const std::string path = std::string(directory) + "/pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  const auto read_all = [reader] {
    std::string text(size_t{1} << 20, '\0');
    size_t size = 0;
    for (ssize_t some = 0; (some = ::read(reader, &text[size], text.size() - size)) > 0;) {
      size += static_cast<size_t>(some);
    }
    text.resize(size);
    return text;
  };
  const auto logger = Logger::Open(path, LogLevel::kNotice);
  REQUIRE(logger.ok());
  constexpr int64_t kLines = 5000;  // more than a pipe takes
  for (int64_t i = 0; i < kLines; ++i) (*logger)->Warning("line ", i);
  const std::string first = read_all();
  const int64_t kept = std::count(first.begin(), first.end(), '\n');
  CHECK(kept > 0);
  CHECK(first.ends_with("# line " + std::to_string(kept - 1) + "\n"));
  (*logger)->Notice("again");
  const std::string second = read_all();
  const std::string lost = std::to_string(kLines - kept);
  CHECK(second.find(" # Nobody read the log: " + lost + " messages were lost.\n") !=
        std::string::npos);
  CHECK(second.ends_with(" * again\n"));
  ::close(reader);
  std::remove(path.c_str());
  std::remove(directory);
}

TEST_CASE("log: a file that cannot be opened is an error that names it") {
  const auto logger = Logger::Open("/nonexistent/tallyd.log", LogLevel::kNotice);
  REQUIRE_FALSE(logger.ok());
  CHECK(std::string(logger.status().message()).find("/nonexistent/tallyd.log") !=
        std::string::npos);
}

}  // namespace
}  // namespace tally::server::log_test
