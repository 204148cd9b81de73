#include "server/aof/log_format.h"

#include <catch2/catch.hpp>

#include "aof_helpers.h"

namespace tally::server::log_format_test {
namespace {

TEST_CASE("The lines of a log have the documented bytes") {
  LogHeader header{7, 0, 0, 0};
  const std::string line = FormatLogHeader(header);
  CHECK(line == "#TALLY-LOG 1 0000000007 000000000000000 00000000 13cdf9a1\r\n");
  REQUIRE(ParseLogHeader(line, header));
  CHECK(header.sequence == 7);

  std::string log = line + RequestText({"INCR", "a"});
  const LogPosition start{7, kLogHeaderBytes, header.crc};
  const uint32_t crc = AppendAnnotation(start, 17, RequestText({"INCR", "a"}), log);
  Annotation annotation;
  REQUIRE(ParseAnnotation(log.substr(log.size() - kAnnotationBytes), annotation));
  CHECK(annotation.length == 21);
  CHECK(annotation.offset == kLogHeaderBytes);
  CHECK(annotation.synced == 17);
  CHECK(annotation.previous_crc == header.crc);
  CHECK(annotation.crc == crc);
}

TEST_CASE("A part of an annotation is known from anything else") {
  const LogPosition start{7, 1234, 0xabcdef01};
  std::string line;
  AppendAnnotation(start, 987, "batch", line);
  for (size_t cut = 0; cut <= line.size(); ++cut) {
    INFO("cut at " << cut);
    CHECK(MayBeginAnnotation(start, "batch", line.substr(0, cut)));
    CHECK(!MayBeginAnnotation(start, "batch", line.substr(0, cut) + "x"));
  }
  CHECK(!MayBeginAnnotation(start, "other", line));
  CHECK(!MayBeginAnnotation({7, 1235, 0xabcdef01}, "batch", line));
}

TEST_CASE("A log header is refused when any bit is wrong") {
  const std::string line = FormatLogHeader({3, 123456, 0xabcdef01, 0});
  LogHeader header;
  for (size_t i = 0; i < line.size() * 8; ++i) {
    std::string flipped = line;
    flipped[i / 8] = static_cast<char>(flipped[i / 8] ^ (1 << i % 8));
    INFO("bit " << i);
    CHECK(!ParseLogHeader(flipped, header));
  }
  CHECK(!ParseLogHeader(line.substr(1), header));
  CHECK(!ParseLogHeader(line + "x", header));
  REQUIRE(ParseLogHeader(line, header));
  CHECK(header.previous_offset == 123456);
  CHECK(header.previous_crc == 0xabcdef01);
}

TEST_CASE("A command is scanned whole, and a part of it asks for more") {
  const std::string command = RequestText({"SET", "k", std::string("\r\n$*\0", 5), ""});
  std::vector<std::string_view> args;
  for (size_t cut = 0; cut < command.size(); ++cut) {
    size_t position = 0;
    INFO("cut at " << cut);
    CHECK(ScanCommand(command.substr(0, cut), position, args) == ScanResult::kIncomplete);
    CHECK(position > cut);
    CHECK(position <= command.size());
  }
  size_t position = 0;
  const std::string followed = command + "*";
  REQUIRE(ScanCommand(followed, position, args) == ScanResult::kCommand);
  CHECK(position == command.size());
  REQUIRE(args.size() == 4);
  CHECK(args[2] == std::string_view("\r\n$*\0", 5));
  CHECK(args[3].empty());
}

TEST_CASE("What is not exactly a multi-bulk command is invalid") {
  std::vector<std::string_view> args;
  for (const std::string_view bad :
       {"PING\r\n", "*0\r\n", "*-1\r\n", "*01\r\n$1\r\na\r\n", "*1\n", "*1\r\n$-1\r\n",
        "*1\r\n:1\r\n", "*1\r\n$1\r\nab\r\n", "*1\r\n$1\r\na\n\n", "*1\r\n$1\r\na\rx", "*+1\r\n",
        "* 1\r\n", "*\r\n", "*12345678901\r\n", "*1\r\n$99999999999\r\n", "*1\rx"}) {
    size_t position = 0;
    INFO(bad);
    CHECK(ScanCommand(bad, position, args) == ScanResult::kInvalid);
    CHECK(position < bad.size());
  }
}

TEST_CASE("A declared length is not believed") {
  std::vector<std::string_view> args;
  size_t position = 0;
  CHECK(ScanCommand("*1\r\n$9999999999\r\nabc", position, args) == ScanResult::kIncomplete);
  CHECK(position == 4 + 13 + 9999999999 + 2);
}

}  // namespace
}  // namespace tally::server::log_format_test
