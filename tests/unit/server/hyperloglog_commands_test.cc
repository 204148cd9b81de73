#include <catch2/catch.hpp>
#include <string>

#include "server/command_harness.h"

namespace tally::server::hyperloglog_commands_test {

TEST_CASE("hyperloglogs: adding says whether anything is new") {
  CommandHarness h;
  CHECK(h.Run("PFADD k") == ":1");
  CHECK(h.Run("PFADD k") == ":0");
  CHECK(h.Run("PFADD k a b c") == ":1");
  CHECK(h.Run("PFADD k a b") == ":0");
  CHECK(h.Run("PFCOUNT k") == ":3");
  CHECK(h.Run("PFCOUNT none") == ":0");
  CHECK(h.Run("TYPE k") == "+string");
  CHECK(h.Effects() == std::vector<std::string>{"PFADD k", "PFADD k a b c"});
}

TEST_CASE("hyperloglogs: counts are those of Redis 7.0") {
  CommandHarness h;
  for (int i = 0; i < 20'000; ++i) {
    h.Run({"PFADD", i % 2 == 0 ? "even" : "odd", "user:" + std::to_string(i)});
  }
  CHECK(h.Run("PFCOUNT even") == ":9923");
  CHECK(h.Run("PFCOUNT even odd none") == ":19857");
  CHECK(h.Run("PFMERGE all even odd") == "+OK");
  CHECK(h.Run("PFCOUNT all") == ":19857");
  CHECK(h.Run("STRLEN all") == ":12304");
}

TEST_CASE("hyperloglogs: one can be taken out and put back") {
  CommandHarness h;
  h.Run("PFADD k a b c");
  // As GET gives it, which the harness shows escaped: so by another way.
  h.Run("COPY k copy");
  h.Run("APPEND copy _EMPTY_");
  CHECK(h.Run("PFCOUNT copy").starts_with("-INVALIDOBJ"));
  h.Run("SETRANGE copy 0 HYLX");
  CHECK(h.Run("PFCOUNT copy") == "-WRONGTYPE Key is not a valid HyperLogLog string value.");
  CHECK(h.Run("PFMERGE merged k") == "+OK");
  CHECK(h.Run("PFCOUNT merged") == ":3");
  CHECK(h.Run("PFMERGE merged") == "+OK");
  CHECK(h.Run("PFCOUNT merged") == ":3");
}

TEST_CASE("hyperloglogs: what is none") {
  CommandHarness h;
  h.Run("SET s text");
  h.Run("SET n 12");
  h.Run("RPUSH l 1");
  for (const char* line : {"PFADD s a", "PFCOUNT s", "PFCOUNT s s", "PFMERGE d s", "PFADD n a"}) {
    INFO(line);
    CHECK(h.Run(line) == "-WRONGTYPE Key is not a valid HyperLogLog string value.");
  }
  for (const char* line : {"PFADD l a", "PFCOUNT l", "PFMERGE l", "PFMERGE d l"}) {
    INFO(line);
    CHECK(h.Run(line) == "-WRONGTYPE Operation against a key holding the wrong kind of value");
  }
  h.Run({"SET", "bad", std::string("HYLL\x01\0\0\0\0\0\0\0\0\0\0\x80\x01", 17)});
  for (const char* line :
       {"PFCOUNT bad", "PFADD bad a", "PFMERGE d bad", "PFMERGE bad", "PFCOUNT bad s"}) {
    INFO(line);
    CHECK(h.Run(line) == "-INVALIDOBJ Corrupted HLL object detected");
  }
  CHECK(h.Run("EXISTS d") == ":0");
}

}  // namespace tally::server::hyperloglog_commands_test
