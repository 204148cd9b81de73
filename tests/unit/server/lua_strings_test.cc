// The string functions of scripts against Lua's own, with patterns and texts by chance.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "random_seed.h"
#include "server/command_harness.h"
#include "server/plain_lua.h"

namespace tally::server::lua_strings_test {
namespace {

std::string Some(test::SeededRandom& random, const std::vector<std::string>& parts, size_t most) {
  std::string text;
  for (size_t i = random.Below(most + 1); i > 0; --i) text += parts[random.Below(parts.size())];
  return text;
}

}  // namespace

TEST_CASE("lua strings: find, match, gmatch, gsub and rep answer as Lua's own do") {
  CommandHarness h;
  const PlainLua plain;
  test::SeededRandom random;
  const std::vector<std::string> texts = {"a",   "b",   "ab",   "(", ")", "7", " ",
                                          "\\n", "\\0", "abab", "]", "%", "-", "A"};
  const std::vector<std::string> patterns = {
      "a",      "b",     ".", "%a",   "%d",     "%s", "%w", "%A", "%u",   "%z",
      "%%",     "*",     "+", "-",    "?",      "(",  ")",  "()", "[ab]", "[^a]",
      "[%d%s]", "[a-c]", "]", "%b()", "%f[%w]", "%1", "^",  "$",  "["};
  const std::vector<std::string> templates = {"x", "%0", "%1", "%%", "%2", ""};
  for (int i = 0; i < 800; ++i) {
    const std::string text = "'" + Some(random, texts, 10) + "'";
    const std::string pattern = "'" + Some(random, patterns, 6) + "'";
    const std::string init = std::to_string(random.Between(-7, 7));
    const std::string codes[] = {
        "return string.find(" + text + ", " + pattern + ", " + init + ")",
        "return string.find(" + text + ", " + pattern + ", " + init + ", true)",
        "return string.match(" + text + ", " + pattern + ", " + init + ")",
        "return string.gsub(" + text + ", " + pattern + ", '" + Some(random, templates, 3) + "')",
        "return string.gsub(" + text + ", " + pattern + ", {a = 1, ab = 'q'}, 3)",
        "return string.gsub(" + text + ", " + pattern +
            ", function(x, y) return y or (x ~= 'b' and tostring(x) .. '.') end)",
        "local n, s = 0, '' for x, y in string.gmatch(" + text + ", " + pattern +
            ") do n = n + 1 s = s .. tostring(x) .. tostring(y) if n > 20 then break end end "
            "return n, s",
        "return string.rep(" + text + ", " + init + ")",
    };
    for (const std::string& code : codes) {
      INFO(code);
      REQUIRE(Scripted(h, code) == plain.Run(code));
    }
  }
}

TEST_CASE("lua strings: what would take too much memory, or too deep a stack, is refused") {
  CommandHarness h;
  const auto error = [&](const std::string& code) {
    const std::string reply = h.Run({"EVAL", code, "0"});
    return reply.substr(0, reply.find(" script: "));
  };
  CHECK(error("return #string.rep('abc', 1e6)") == ":3000000");
  CHECK(error("return string.rep('', 2^31 - 1)") == "\"\"");
  CHECK(error("return string.rep('x', 2^30)").find("not enough memory") != std::string::npos);
  CHECK(error("return string.rep(string.rep('x', 2^20), 2^31 - 1)").find("not enough memory") !=
        std::string::npos);
  CHECK(error("return string.find(string.rep('a', 1e5), string.rep('a?', 1e5))") ==
        "-ERR user_script:1: pattern too complex");
  CHECK(error("return string.find('aab', string.rep('a?', 100) .. 'b')") == ":1");
}

}  // namespace tally::server::lua_strings_test
