#include "core/bytes/printable.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "random_seed.h"

namespace tally::printable_test {
namespace {

TEST_CASE("text stays, and what is no text is shown by its bytes") {
  CHECK(Printable("api:login /v1") == "api:login /v1");
  CHECK(Printable("größe 大 \xf0\x9f\x99\x82") == "größe 大 \xf0\x9f\x99\x82");
  CHECK(Printable("a\r\nb\x7f") == "a\\x0d\\x0ab\\x7f");
  CHECK(Printable("back\\slash") == "back\\x5cslash");
  CHECK(Printable(std::string("\0", 1)) == "\\x00");
  CHECK(Printable("a,b=c", ",=") == "a\\x2cb\\x3dc");
  CHECK(Printable("") == "");
}

TEST_CASE("bytes that are no UTF-8 are shown one by one") {
  CHECK(Printable("\xff") == "\\xff");
  CHECK(Printable("\x80") == "\\x80");
  CHECK(Printable("\xc3") == "\\xc3");                             // its end is missing
  CHECK(Printable("\xc0\x80") == "\\xc0\\x80");                    // overlong
  CHECK(Printable("\xe0\x80\x80") == "\\xe0\\x80\\x80");           // overlong
  CHECK(Printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(Printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
  CHECK(Printable("\xf4\x8f\xbf\xbf") == "\xf4\x8f\xbf\xbf");
  CHECK(Printable("\xed\x9f\xbf") == "\xed\x9f\xbf");
}

TEST_CASE("different bytes give different texts") {
  test::SeededRandom random;
  std::map<std::string, std::string> seen;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (size_t n = random.Below(5); n > 0; --n) {
      bytes += "\\x0aA\xc3\xa9\xff\n"[random.Below(8)];
    }
    const auto [known, fresh] = seen.emplace(Printable(bytes), bytes);
    REQUIRE(known->second == bytes);
  }
}

}  // namespace
}  // namespace tally::printable_test
