#include "server/log/quoted.h"

#include <catch2/catch.hpp>
#include <string>

namespace tally::server::quoted_test {
namespace {

std::string Appended(std::string_view bytes) {
  std::string out = "before ";
  AppendQuoted(out, bytes);
  return out;
}

}  // namespace

TEST_CASE("bytes are quoted as redis-cli reads them") {
  CHECK(Appended("") == "before \"\"");
  CHECK(Appended("plain text") == "before \"plain text\"");
  CHECK(Appended("\"a\\b\"") == R"(before "\"a\\b\"")");
  CHECK(Appended("\n\r\t\a\b") == R"(before "\n\r\t\a\b")");
  CHECK(Appended({"\0\x7f\xff x", 5}) == R"(before "\x00\x7f\xff x")");
  CHECK(Appended(std::string(100'000, 'x') + "\1") ==
        "before \"" + std::string(100'000, 'x') + "\\x01\"");
}

}  // namespace tally::server::quoted_test
