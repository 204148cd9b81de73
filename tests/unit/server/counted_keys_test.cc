#include "server/arguments/counted_keys.h"

#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

namespace tally::server::counted_keys_test {
namespace {

// How many keys are found after a count, of four that are there; -1 if it is none.
int Found(std::string_view count) {
  const std::string_view args[] = {"zunion", count, "a", "b", "c", "d"};
  std::vector<KeyReference> keys;
  return FindFirstCountedKeys(args, keys) ? static_cast<int>(keys.size()) : -1;
}

}  // namespace

TEST_CASE("counted keys: the count is read as atoi reads it") {
  CHECK(Found("1") == 1);
  CHECK(Found("+1") == 1);
  CHECK(Found("01") == 1);
  CHECK(Found(" \t2") == 2);
  CHECK(Found("2x") == 2);
  CHECK(Found("1.9") == 1);
  CHECK(Found("1e1") == 1);
  CHECK(Found("4") == 4);
  CHECK(Found("4294967297") == 1);  // it has 32 bits
  CHECK(Found("-4294967295") == 1);
}

TEST_CASE("counted keys: none, or more than there are") {
  for (const char* count :
       {"0", "-1", "5", "", "x", "+", "-", "+-1", "- 1", "0x1", "4294967296", "2147483648",
        "9223372036854775807", "99999999999999999999", "-99999999999999999999"}) {
    INFO(count);
    CHECK(Found(count) == -1);
  }
}

TEST_CASE("counted keys: where they are") {
  const std::string_view args[] = {"eval", "x", "2", "a", "b", "c"};
  std::vector<KeyReference> keys;
  REQUIRE(FindCountedKeys(args, 2, keys));
  REQUIRE(keys.size() == 2);
  CHECK(keys[0].index == 3);
  CHECK(keys[1].index == 4);
}

}  // namespace tally::server::counted_keys_test
