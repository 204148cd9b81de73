#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "random_seed.h"
#include "server/command_harness.h"

namespace tally::server::sort_commands_test {

TEST_CASE("sort: as numbers, as texts, a part") {
  CommandHarness h;
  h.Run("RPUSH l 10 9 -1 2.5 1e2");
  CHECK(h.Run("SORT l") == "[\"-1\" \"2.5\" \"9\" \"10\" \"1e2\"]");
  CHECK(h.Run("SORT l DESC") == "[\"1e2\" \"10\" \"9\" \"2.5\" \"-1\"]");
  CHECK(h.Run("SORT l ALPHA") == "[\"-1\" \"10\" \"1e2\" \"2.5\" \"9\"]");
  CHECK(h.Run("SORT_RO l LIMIT 1 2") == "[\"2.5\" \"9\"]");
  CHECK(h.Run("SORT l LIMIT 3 100") == "[\"10\" \"1e2\"]");
  CHECK(h.Run("SORT l LIMIT -5 1") == "[\"-1\"]");
  CHECK(h.Run("SORT l LIMIT 9 1") == "[]");
  CHECK(h.Run("SORT l LIMIT 1 -1") == "[\"2.5\" \"9\" \"10\" \"1e2\"]");
  CHECK(h.Run("SORT absent") == "[]");
  h.Run("SADD s b 3 a");
  CHECK(h.Run("SORT s") == "-ERR One or more scores can't be converted into double");
  CHECK(h.Run("SORT s ALPHA") == "[\"3\" \"a\" \"b\"]");
  h.Run("ZADD z 3 1 2 2 1 3");
  CHECK(h.Run("SORT z") == "[\"1\" \"2\" \"3\"]");
  CHECK(h.Run("SORT z BY nosort") == "[\"3\" \"2\" \"1\"]");
  CHECK(h.Run("SORT z BY nosort DESC LIMIT 0 2") == "[\"1\" \"2\"]");
}

TEST_CASE("sort: by and for what is elsewhere") {
  CommandHarness h;
  h.Run("RPUSH l 1 2 3");
  h.Run("MSET weight:1 30 weight:2 10 weight:3 20 name:1 one name:3 three");
  h.Run("HSET data:1 w 2 n x");
  h.Run("HSET data:2 w 1");
  CHECK(h.Run("SORT l BY weight:*") == "[\"2\" \"3\" \"1\"]");
  CHECK(h.Run("SORT l BY weight:* GET name:* GET #") ==
        "[nil \"2\" \"three\" \"3\" \"one\" \"1\"]");
  CHECK(h.Run("SORT l BY data:*->w GET data:*->n") == "[nil nil \"x\"]");
  CHECK(h.Run("SORT l BY name:* ALPHA DESC") == "[\"3\" \"1\" \"2\"]");
  CHECK(h.Run("SORT l BY data:* GET fixed") == "[nil nil nil]");
  CHECK(h.Run("SORT l BY name:*") == "-ERR One or more scores can't be converted into double");
}

TEST_CASE("sort: equal weights leave nothing to a set's own order") {
  CommandHarness h;
  std::string members;
  std::string ascending;
  for (int i = 1000; i < 2000; ++i) {
    members += StrCat(" m", i);
    StrAppend(ascending, ascending.empty() ? "[\"m" : " \"m", i, "\"");
  }
  ascending += ']';
  h.Run("SADD s" + members);
  CHECK(h.Run("SORT s BY weight:* ALPHA STORE to") == ":1000");
  CHECK(h.Run("LRANGE to 0 -1") == ascending);
  CHECK(h.Run("SORT s BY weight:* STORE to") == ":1000");
  CHECK(h.Run("LRANGE to 0 -1") == ascending);
}

TEST_CASE("sort: what is stored, and its errors") {
  CommandHarness h;
  h.Run("SADD s 3 1 2");
  h.Run("SET name:1 one");
  h.Effects();
  CHECK(h.Run("SORT s DESC STORE to") == ":3");
  CHECK(h.Effects() == std::vector<std::string>{"SORT s DESC STORE to"});
  CHECK(h.Run("LRANGE to 0 -1") == "[\"3\" \"2\" \"1\"]");
  CHECK(h.Run("SORT s BY nosort GET name:* STORE to") == ":3");
  CHECK(h.Run("LRANGE to 0 -1") == "[\"one\" \"\" \"\"]");
  CHECK(h.Run("SORT absent STORE to") == ":0");
  CHECK(h.Run("EXISTS to") == ":0");
  CHECK(h.Run("SORT_RO s STORE to") == "-ERR syntax error");
  CHECK(h.Run("SORT s LIMIT x 1") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("SORT s BY") == "-ERR syntax error");
  CHECK(h.Run("SORT name:1").starts_with("-WRONGTYPE"));
}

TEST_CASE("sort: patterns take the right to read every key") {
  CommandHarness h;
  h.Run("RPUSH k 2 1");
  h.Run("ACL SETUSER ann on nopass +@all ~k*");
  Client* ann = h.Connect();
  h.Run(*ann, "AUTH ann x");
  CHECK(h.Run(*ann, "SORT k") == "[\"1\" \"2\"]");
  CHECK(h.Run(*ann, "SORT k BY w*") ==
        "-ERR BY option of SORT denied due to insufficient ACL permissions.");
  CHECK(h.Run(*ann, "SORT k GET # GET w*") ==
        "-ERR GET option of SORT denied due to insufficient ACL permissions.");
  CHECK(h.Run(*ann, "SORT k GET #") ==
        "-ERR GET option of SORT denied due to insufficient ACL permissions.");
  CHECK(h.Run(*ann, "SORT_RO k BY nosort GET #") ==
        "-ERR GET option of SORT denied due to insufficient ACL permissions.");
  CHECK(h.Run(*ann, "SORT k BY nosort DESC").starts_with("["));
  CHECK(h.Run(*ann, {"EVAL", "return redis.pcall('sort', 'k', 'by', 'w*')", "0"}) ==
        "-ERR BY option of SORT denied due to insufficient ACL permissions.");
  CHECK(h.Run(*ann, "SORT k STORE other").starts_with("-NOPERM"));
  h.Run("ACL SETUSER ann %R~*");
  CHECK(h.Run(*ann, "SORT k BY w* GET w*") == "[nil nil]");
  CHECK(h.Run(*ann, "SORT k GET #") == "[\"1\" \"2\"]");
}

TEST_CASE("sort: a part is what sorting all of it gives") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 40; ++round) {
    CommandHarness h;
    std::vector<int64_t> numbers;
    std::vector<std::string> texts;
    const size_t size = random.Below(400);
    for (size_t i = 0; i < size; ++i) {
      numbers.push_back(random.Between(-150, 150));
      texts.push_back(std::to_string(numbers.back()));
      h.Run({"RPUSH", "l", texts.back()});
    }
    const bool alpha = random.OneIn(2);
    const bool descending = random.OneIn(2);
    std::sort(numbers.begin(), numbers.end());
    std::sort(texts.begin(), texts.end());
    if (descending) {
      std::reverse(numbers.begin(), numbers.end());
      std::reverse(texts.begin(), texts.end());
    }
    const size_t from = random.Below(size + 2);
    const size_t count = random.Below(size + 2);
    std::string expected = "[";
    for (size_t i = from; i < std::min(size, from + count); ++i) {
      const std::string text = alpha ? texts[i] : std::to_string(numbers[i]);
      StrAppend(expected, i == from ? "\"" : " \"", text, "\"");
    }
    CHECK(h.Run({"SORT", "l", "LIMIT", std::to_string(from), std::to_string(count),
                 alpha ? "ALPHA" : "ASC", descending ? "DESC" : "ASC"}) == expected + "]");
  }
}

}  // namespace tally::server::sort_commands_test
