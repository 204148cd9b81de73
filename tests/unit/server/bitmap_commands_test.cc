#include <catch2/catch.hpp>
#include <string>

#include "server/command_harness.h"

namespace tally::server::bitmap_commands_test {

TEST_CASE("bitmaps: bits are set and read") {
  CommandHarness h;
  CHECK(h.Run("SETBIT k 7 1") == ":0");
  CHECK(h.Run("SETBIT k 7 1") == ":1");
  CHECK(h.Run({"GET", "k"}) == "\"\\x01\"");
  CHECK(h.Run("SETBIT k 100 0") == ":0");
  CHECK(h.Run("STRLEN k") == ":13");
  CHECK(h.Run("GETBIT k 7") == ":1");
  CHECK(h.Run("GETBIT k 8") == ":0");
  CHECK(h.Run("GETBIT k 1000") == ":0");
  CHECK(h.Run("GETBIT none 1") == ":0");
  CHECK(h.Effects() == std::vector<std::string>{"SETBIT k 7 1", "SETBIT k 100 0"});
  CHECK(h.Run("SETBIT k -1 1") == "-ERR bit offset is not an integer or out of range");
  CHECK(h.Run("SETBIT k 4294967296 1") == "-ERR bit offset is not an integer or out of range");
  CHECK(h.Run("SETBIT k 1 2") == "-ERR bit is not an integer or out of range");
}

TEST_CASE("bitmaps: an integer is text to them") {
  CommandHarness h;
  h.Run("SET k 123");
  CHECK(h.Run("GETBIT k 3") == ":1");
  CHECK(h.Run("BITCOUNT k") == ":10");
  CHECK(h.Run("SETBIT k 6 1") == ":0");
  CHECK(h.Run("GET k") == "\"323\"");
}

TEST_CASE("bitmaps: ones are counted in ranges of bytes and bits") {
  CommandHarness h;
  h.Run("SET k foobar");
  CHECK(h.Run("BITCOUNT k") == ":26");
  CHECK(h.Run("BITCOUNT k 0 0") == ":4");
  CHECK(h.Run("BITCOUNT k 1 1 BYTE") == ":6");
  CHECK(h.Run("BITCOUNT k 5 30 bit") == ":17");
  CHECK(h.Run("BITCOUNT k -2 -1") == ":7");
  CHECK(h.Run("BITCOUNT k -10 -11") == ":0");
  CHECK(h.Run("BITCOUNT k 3 2") == ":0");
  CHECK(h.Run("BITCOUNT k 0 -9223372036854775808") == ":4");
  CHECK(h.Run("BITCOUNT none x") == ":0");
  CHECK(h.Run("BITCOUNT k 1") == "-ERR syntax error");
  CHECK(h.Run("BITCOUNT k 0 x foo") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("BITCOUNT k 0 1 foo") == "-ERR syntax error");
}

TEST_CASE("bitmaps: the first bit of a kind") {
  CommandHarness h;
  h.Run({"SET", "k", "\xff\xf0\x01"});
  CHECK(h.Run("BITPOS k 0") == ":12");
  CHECK(h.Run("BITPOS k 1 2") == ":23");
  CHECK(h.Run("BITPOS k 1 13 -1 BIT") == ":23");
  CHECK(h.Run("BITPOS k 1 13 22 BIT") == ":-1");
  CHECK(h.Run("BITPOS none 0") == ":0");
  CHECK(h.Run("BITPOS none 1") == ":-1");
  h.Run({"SET", "ones", "\xff\xff"});
  CHECK(h.Run("BITPOS ones 0") == ":16");
  CHECK(h.Run("BITPOS ones 0 1") == ":16");
  CHECK(h.Run("BITPOS ones 0 0 -1") == ":-1");
  CHECK(h.Run("BITPOS ones 0 5") == ":-1");
  CHECK(h.Run("BITPOS ones 2") == "-ERR The bit argument must be 1 or 0.");
  CHECK(h.Run("BITPOS ones 1 0 x foo") == "-ERR syntax error");
}

TEST_CASE("bitmaps: combining") {
  CommandHarness h;
  h.Run({"SET", "a", "abc"});
  h.Run({"SET", "b", "ab"});
  CHECK(h.Run("BITOP AND d a b") == ":3");
  CHECK(h.Run({"GET", "d"}) == h.Run({"GETRANGE", "d", "0", "-1"}));
  CHECK(h.Run("BITCOUNT d") == ":6");
  CHECK(h.Run("BITOP xor d a b none") == ":3");
  CHECK(h.Run("BITCOUNT d") == ":4");
  CHECK(h.Run("BITOP OR d b a") == ":3");
  CHECK(h.Run("GET d") == "\"abc\"");
  CHECK(h.Run("BITOP NOT d a") == ":3");
  CHECK(h.Run("BITCOUNT d") == ":14");
  CHECK(h.Run("BITOP NOT a a") == ":3");
  CHECK(h.Run("BITOP NOT d a b") == "-ERR BITOP NOT must be called with a single source key.");
  CHECK(h.Run("BITOP NAND d a b") == "-ERR syntax error");
  CHECK(h.Run("BITOP AND d none none") == ":0");
  CHECK(h.Run("EXISTS d") == ":0");
  h.Run("RPUSH l 1");
  CHECK(h.Run("BITOP OR d a l").starts_with("-WRONGTYPE"));
}

}  // namespace tally::server::bitmap_commands_test
