#include "server/log/trouble_log.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "written_log.h"

namespace tally::server::trouble_log_test {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("a trouble has a line when it begins, one each minute and one when it has ended") {
  test::WrittenLog log;
  TroubleLog trouble(log.logger(), "over");
  int64_t now_ms = 1'000'000;
  trouble.Tick(now_ms);
  CHECK(log.Lines().empty());
  // It lasts for 130 seconds, and is told a thousand times a second.
  for (const int64_t end_ms = now_ms + 130'000; now_ms < end_ms; ++now_ms) {
    trouble.Happens("no room", now_ms);
    trouble.Tick(now_ms);
  }
  const Lines during{"# no room", "# Still, after 60 s: no room", "# Still, after 120 s: no room"};
  CHECK(log.Lines() == during);
  trouble.Tick(now_ms + 4998);
  CHECK(log.Lines().size() == 3);
  trouble.Tick(now_ms + 4999);
  trouble.Tick(now_ms + 9000);
  CHECK(log.Lines().size() == 4);
  CHECK(log.Lines().back() == "* over");
  trouble.Happens("no room", now_ms + 10'000);
  CHECK(log.Lines().size() == 5);
}

TEST_CASE("a trouble that comes and goes is one trouble") {
  test::WrittenLog log;
  TroubleLog trouble(log.logger(), "over");
  for (int64_t now_ms = 0; now_ms < 59'000; now_ms += 50) {
    if (now_ms / 1000 % 2 == 0) trouble.Happens("no room", now_ms);
    trouble.Tick(now_ms);
  }
  CHECK(log.Lines() == Lines{"# no room"});
}

TEST_CASE("a warning that the log's file does not take goes to stderr") {
  // The device takes no bytes, as a full disk.
  const auto log = Logger::Open("/dev/full", LogLevel::kNotice);
  REQUIRE(log.ok());
  const test::CapturedStderr captured;
  (*log)->Warning("the disk is full");
  (*log)->Notice("of less weight");
  const std::string text = captured.Read();
  CHECK(text.find("# the disk is full\n") != std::string::npos);
  CHECK(text.find("of less weight") == std::string::npos);
}

}  // namespace
}  // namespace tally::server::trouble_log_test
