#include "core/bytes/glob.h"

#include <catch2/catch.hpp>
#include <string>

#include "random_seed.h"

namespace tally::glob_test {
namespace {

// The obvious matcher, exponential in the number of stars.
bool NaiveMatch(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    for (size_t skip = 0; skip <= text.size(); ++skip) {
      if (NaiveMatch(pattern.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  if (text.empty()) return false;
  if (pattern[0] == '[') {
    const bool negated = pattern.size() > 1 && pattern[1] == '^';
    const size_t start = negated ? 2 : 1;
    const size_t close = pattern.find(']', start);
    const std::string_view members = pattern.substr(start, close - start);
    const bool matches = (members.find(text[0]) != std::string_view::npos) != negated;
    return matches && NaiveMatch(pattern.substr(close + 1), text.substr(1));
  }
  if (pattern[0] != '?' && pattern[0] != text[0]) return false;
  return NaiveMatch(pattern.substr(1), text.substr(1));
}

TEST_CASE("glob: literals, question marks and stars") {
  CHECK(GlobMatch("", ""));
  CHECK_FALSE(GlobMatch("", "a"));
  CHECK_FALSE(GlobMatch("a", ""));
  CHECK_FALSE(GlobMatch("*", ""));
  CHECK(GlobMatch("***", "anything"));
  CHECK(GlobMatch("h?llo", "hello"));
  CHECK_FALSE(GlobMatch("h?llo", "hllo"));
  CHECK(GlobMatch("message#*", std::string_view("message#\0\xff", 10)));
  CHECK(GlobMatch("*a*b*", "xxaxxbxx"));
  CHECK_FALSE(GlobMatch("*a*b", "xxbxxa"));
  CHECK(GlobMatch("a*", "a"));
}

TEST_CASE("glob: classes, ranges and escapes as redis-server has them") {
  CHECK(GlobMatch("h[ae]llo", "hallo"));
  CHECK_FALSE(GlobMatch("h[ae]llo", "hillo"));
  CHECK(GlobMatch("h[^e]llo", "hallo"));
  CHECK_FALSE(GlobMatch("h[^e]llo", "hello"));
  CHECK(GlobMatch("[a-c]", "b"));
  CHECK(GlobMatch("[c-a]", "b"));
  CHECK_FALSE(GlobMatch("[a-c]", "d"));
  CHECK(GlobMatch("[a-]", "^"));  // from ']' to 'a', and no end
  CHECK_FALSE(GlobMatch("[a-]", "-"));
  CHECK(GlobMatch("[\\]]", "]"));
  CHECK(GlobMatch("[\\^a]", "^"));
  CHECK(GlobMatch("[ab", "b"));
  CHECK_FALSE(GlobMatch("[]a", "a"));
  CHECK(GlobMatch("\\*", "*"));
  CHECK_FALSE(GlobMatch("\\*", "a"));
  CHECK(GlobMatch("a\\", "a\\"));
}

TEST_CASE("glob: folding is of ASCII letters and only on demand") {
  CHECK_FALSE(GlobMatch("MAX*", "maxmemory"));
  CHECK(GlobMatch("MAX*", "maxmemory", GlobCase::kInsensitive));
  CHECK(GlobMatch("[A-M]ax", "max", GlobCase::kInsensitive));
  CHECK_FALSE(GlobMatch("[", "{", GlobCase::kInsensitive));
  CHECK_FALSE(GlobMatch("\\@", "`", GlobCase::kInsensitive));
}

TEST_CASE("glob: a pattern made to backtrack ends at once") {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "a*";
  CHECK_FALSE(GlobMatch(pattern + "b", std::string(2000, 'a')));
  CHECK(GlobMatch(pattern, std::string(2000, 'a')));
}

TEST_CASE("glob: agrees with the naive matcher") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  static constexpr std::string_view kElements[] = {"a", "b", "?", "*", "[ab]", "[^a]", "c"};
  for (int round = 0; round < 20000; ++round) {
    std::string pattern;
    std::string text;
    for (uint64_t i = random.Below(7); i > 0; --i) pattern += kElements[random.Below(7)];
    for (uint64_t i = random.Below(8); i > 0; --i) text += "abc"[random.Below(3)];
    INFO(pattern << " against " << text);
    // To Redis no star matches an empty text.
    const bool expected = text.empty() ? pattern.empty() : NaiveMatch(pattern, text);
    REQUIRE(GlobMatch(pattern, text) == expected);
  }
}

}  // namespace
}  // namespace tally::glob_test
