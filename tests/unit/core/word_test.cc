#include "core/words/word.h"

#include <absl/strings/ascii.h>

#include <catch2/catch.hpp>
#include <random>
#include <string>

namespace tally::word_test {
namespace {

TEST_CASE("IsWord: ignores the case of ASCII letters only, at every length and place") {
  std::mt19937 random(1);
  const auto any_char = [&] { return static_cast<char>(random() % 256); };
  for (size_t size = 0; size <= 40; ++size) {
    for (int round = 0; round < 200; ++round) {
      std::string lower;
      for (size_t i = 0; i < size; ++i) lower += absl::ascii_tolower(any_char());
      std::string word = lower;
      for (char& c : word) c = random() % 2 == 0 ? absl::ascii_toupper(c) : c;
      CHECK(IsWord(word, lower));
      if (size == 0) continue;
      // One character of another value, often by one bit, which tells letters of both cases apart.
      char& changed = word[random() % size];
      changed = static_cast<char>(random() % 2 == 0 ? changed ^ (1 << random() % 8) : any_char());
      std::string folded;
      for (const char c : word) folded += absl::ascii_tolower(c);
      CHECK(IsWord(word, lower) == (folded == lower));
    }
    CHECK_FALSE(IsWord(std::string(size + 1, 'a'), std::string(size, 'a')));
  }
}

}  // namespace
}  // namespace tally::word_test
