#include "core/bytes/common_subsequence.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

namespace tally::common_subsequence_test {
namespace {

size_t NaiveLength(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return 0;
  const size_t without = std::max(NaiveLength(a.substr(1), b), NaiveLength(a, b.substr(1)));
  if (a[0] != b[0]) return without;
  return std::max(without, 1 + NaiveLength(a.substr(1), b.substr(1)));
}

TEST_CASE("common subsequence: the runs are in both texts, in order, and as many bytes as can be") {
  std::mt19937 random(20261125);
  for (int round = 0; round < 500; ++round) {
    const auto text = [&] {
      std::string made(random() % 9, 'a');
      for (char& c : made) c = static_cast<char>('a' + random() % 3);
      return made;
    };
    const std::string a = text();
    const std::string b = text();
    CAPTURE(a, b);
    size_t length = 0;
    size_t a_end = a.size();
    size_t b_end = b.size();
    for (const CommonRun& run : CommonSubsequence(a, b)) {
      REQUIRE(run.size > 0);
      REQUIRE(run.a_begin + run.size <= a_end);
      REQUIRE(run.b_begin + run.size <= b_end);
      CHECK(a.substr(run.a_begin, run.size) == b.substr(run.b_begin, run.size));
      a_end = run.a_begin;
      b_end = run.b_begin;
      length += run.size;
    }
    CHECK(length == NaiveLength(a, b));
  }
}

TEST_CASE("common subsequence: empty texts") {
  CHECK(CommonSubsequence("", "").empty());
  CHECK(CommonSubsequence("a", "").empty());
  CHECK(CommonSubsequence("", "a").empty());
}

}  // namespace
}  // namespace tally::common_subsequence_test
