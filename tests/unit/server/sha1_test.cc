#include "server/script/sha1.h"

#include <catch2/catch.hpp>
#include <string>

#include "random_seed.h"

namespace tally::server::sha1_test {

TEST_CASE("sha1: the names of texts, in lower-case hex") {
  CHECK(Sha1Of("").view() == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(Sha1Of("return 1").view() == "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
}

TEST_CASE("sha1: the memo never takes one text for another") {
  Sha1Memo memo;
  test::SeededRandom random;
  for (int i = 0; i < 20000; ++i) {
    // Few texts, most of which differ in a byte or two, at any place.
    const size_t sizes[] = {
        0, 1, 7, 8, 15, 16, 17, 40, 700, Sha1Memo::kMaxBytes, Sha1Memo::kMaxBytes + 1};
    std::string text(sizes[random.Below(random.OneIn(10) ? 11 : 9)], 'a');
    if (!text.empty()) {
      for (size_t left = random.Below(3); left > 0; --left) {
        text[random.Below(text.size())] = static_cast<char>('a' + random.Below(3));
      }
    }
    REQUIRE(memo.Of(text).view() == Sha1Of(text).view());
  }
}

}  // namespace tally::server::sha1_test
