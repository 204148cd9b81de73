#include <catch2/catch.hpp>

#include "tests/unit/server/command_harness.h"

namespace tally::server::bitfield_commands_test {
namespace {

TEST_CASE("bitfield: numbers of any width, at any bit") {
  CommandHarness h;
  CHECK(h.Run("BITFIELD k SET u8 4 255 GET u4 4 GET i4 8 GET u63 100") == "[:0 :15 :-1 :0]");
  CHECK(h.Run("GET k") == "\"\\x0f\\xf0\"");
  CHECK(h.Run("BITFIELD k INCRBY i5 #1 -20 INCRBY i5 #1 1") == "[:11 :12]");
  CHECK(h.Run("BITFIELD_RO k GET i64 0") == h.Run("BITFIELD k GET i64 0"));
  CHECK(h.Run("BITFIELD absent GET u8 0") == "[:0]");
  CHECK(h.Run("EXISTS absent") == ":0");
}

TEST_CASE("bitfield: what does not fit wraps, stops at the end, or is refused") {
  CommandHarness h;
  CHECK(h.Run("BITFIELD k SET i8 0 127 INCRBY i8 0 1") == "[:0 :-128]");
  CHECK(h.Run("BITFIELD k OVERFLOW SAT INCRBY i8 0 -1 SET u8 8 -5 GET u8 8") == "[:-128 :0 :255]");
  CHECK(h.Run("BITFIELD k OVERFLOW SAT SET i3 0 -9223372036854775808 GET i3 0") == "[:-4 :-4]");
  CHECK(h.Run("BITFIELD k OVERFLOW FAIL INCRBY u8 8 1 GET u8 8") == "[nil :255]");
  CHECK(h.Run("BITFIELD k SET i64 0 9223372036854775807 INCRBY i64 0 1 GET u63 1")
            .ends_with(":-9223372036854775808 :0]"));
}

TEST_CASE("bitfield: bad input changes nothing") {
  CommandHarness h;
  for (const char* const bad : {"SET u64 0 1", "SET i65 0 1", "SET u0 0 1", "SET u8 -1 1",
                                "SET u8 #99999999999999 1", "SET u8 0 x", "SET u8 0", "OVERFLOW",
                                "OVERFLOW x SET u8 0 1", "SET u8 0 1 GET u8", "NOSUCH u8 0"}) {
    CAPTURE(bad);
    CHECK(h.Run(std::string("BITFIELD k ") + bad).starts_with("-ERR"));
    CHECK(h.Run("EXISTS k") == ":0");
  }
  CHECK(h.Run("BITFIELD_RO k SET u8 0 1").starts_with("-ERR BITFIELD_RO only"));
  h.Run("RPUSH list a");
  CHECK(h.Run("BITFIELD list SET u8 0 1").starts_with("-WRONGTYPE"));
}

}  // namespace
}  // namespace tally::server::bitfield_commands_test
