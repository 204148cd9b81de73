#include "server/command/command_context.h"

#include <absl/strings/ascii.h>

#include <catch2/catch.hpp>
#include <string>

namespace tally::server::command_context_test {

TEST_CASE("a word is known in any case, and by each of its bytes") {
  for (const std::string word :
       {"", "a", "at", "get", "incr", "zcard", "quota.left", "x_1|y", "set-get", "@`{[az",
        "zremrangebyscore", "\xfb`\xe1`", "\xff`az", "caf\xc3\xa9"}) {
    REQUIRE(IsWord(word, word));
    REQUIRE(IsWord(absl::AsciiStrToUpper(word), word));
    REQUIRE_FALSE(IsWord(word + "x", word));
    for (size_t place = 0; place < word.size(); ++place) {
      std::string arg = word;
      for (int byte = 0; byte < 256; ++byte) {
        arg[place] = static_cast<char>(byte);
        INFO(word << " as \"" << arg << '"');
        REQUIRE(IsWord(arg, word) == (absl::AsciiStrToLower(arg) == word));
      }
    }
  }
}

}  // namespace tally::server::command_context_test
