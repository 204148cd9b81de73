// HITS, LIMIT and ACTIVE at the ends of 64 bits and of time, and beside what all commands share.
#include <string>

#include "tests/unit/server/command_harness.h"

namespace tally::server::natives_edges_test {
namespace {

constexpr std::string_view kMax = "9223372036854775807";

}  // namespace

TEST_CASE("natives: HITS holds its counts at the end of 64 bits") {
  CommandHarness h;
  CHECK(h.Run(StrCat("HITS.ADD k 10s COUNT ", kMax)) == StrCat(":", kMax));
  h.Advance(1);
  CHECK(h.Run(StrCat("HITS.ADD k 10s COUNT ", kMax)) == StrCat(":", kMax));
  CHECK(h.Run("HITS.COUNT k") == StrCat(":", kMax));
  CHECK(h.Run("HITS.UNDO k 7") == ":9223372036854775800");
  CHECK(h.Run(StrCat("HITS.UNDO k ", kMax)) == ":0");
  CHECK(h.Run("EXISTS k") == ":0");
}

TEST_CASE("natives: LIMIT holds its counts at the end of 64 bits") {
  CommandHarness h;
  const std::string fixed = StrCat("k FIXED ", kMax, " 1s COST ", kMax);
  CHECK(h.Run("LIMIT.TAKE " + fixed) == StrCat("[:1 :", kMax, " :0 :0 :1000 :0]"));
  CHECK(h.Run("LIMIT.FORCE " + fixed) == StrCat("[:0 :", kMax, " :0 :1000 :1000 :1]"));
  CHECK(h.Run(StrCat("LIMIT.GIVE k ", kMax)) == ":1");
  CHECK(h.Run("EXISTS k") == ":0");
  CHECK(h.Run(StrCat("LIMIT.TAKE s SLIDING ", kMax, " 1s COST ", kMax)) ==
        StrCat("[:1 :", kMax, " :0 :0 :1000 :0]"));
  CHECK(h.Run(StrCat("LIMIT.TAKE s SLIDING ", kMax, " 1s")) ==
        StrCat("[:0 :", kMax, " :0 :1000 :1000 :1]"));
  CHECK(h.Run(StrCat("LIMIT.TAKE b BUCKET 9223372036854775 9223372036854775 1s COST ", kMax)) ==
        "[:0 :9223372036854775 :9223372036854775 :-1 :0 :1]");
}

TEST_CASE("natives: the last instant and the first are as good as others") {
  CommandHarness h;
  CHECK(h.Run("HITS.ADD k 7d AT 253402300799999ms") == ":1");
  CHECK(h.Run("HITS.ADD k 7d AT 0") == ":2");
  CHECK(h.Run("HITS.COUNT k") == ":1");
  CHECK(h.Run("HITS.ADD k 7d AT 253402300800").substr(0, 7) == "-ERR AT");
  CHECK(h.Run("LIMIT.TAKE l FIXED 1 7d SLIDING 1 7d BUCKET 1 1 7d AT 253402300799999ms") ==
        "[:1 :1 :0 :0 :604800000 :0]");
  CHECK(h.Run("ACTIVE.TOUCHAT a 253402300799999ms ann") == ":1");
  CHECK(h.Run("ACTIVE.TOUCHAT a 0 ann") == ":1");
  CHECK(h.Run("ACTIVE.SEEN a ann") == StrCat("[:1 :", h.now(), " :0 :1]"));
}

TEST_CASE("natives: PERSIST and EXPIRE leave a counter no longer than it can count") {
  CommandHarness h;
  for (const std::string& take :
       {std::string("LIMIT.TAKE k FIXED 1 60s"), std::string("HITS.ADD k 60s"),
        std::string("LIMIT.FORCE k SLIDING 9 60s COST 500"),
        std::string("HITS.ADD k 60s COUNT 100000")}) {
    INFO(take);
    h.Run("DEL k");
    h.Run(take);
    CHECK(h.Run("PERSIST k") == ":0");
    CHECK(h.Run("PTTL k") == ":60000");
    CHECK(h.Run("EXPIRE k 1000000") == ":1");
    CHECK(h.Run("PTTL k") == ":60000");
    CHECK(h.Run("PEXPIRE k 500") == ":1");
    CHECK(h.Run("PTTL k") == ":500");
    h.Effects();
    CHECK(h.Run("PERSIST k") == ":1");
    CHECK(h.Run("PTTL k") == ":60000");
    CHECK(h.Effects() == std::vector<std::string>{"PERSIST k"});
    CHECK(h.Run("COPY k l") == ":1");
    CHECK(h.Run("PERSIST l") == ":0");
    CHECK(h.Run("RENAME l m") == "+OK");
    CHECK(h.Run("PTTL m") == ":60000");
    h.Run("DEL m");
  }
  // Many hits and many counters are not packed in the key's record.
  for (int i = 0; i < 50; ++i) h.Run(StrCat("LIMIT.TAKE big FIXED 9 ", 10 + i, "s SLIDING 9 60s"));
  CHECK(h.Run("PERSIST big") == ":0");
  CHECK(h.Run("PTTL big") == ":60000");
  // Those that have no end of their own keep none.
  h.Run("ACTIVE.TOUCH a x");
  CHECK(h.Run("EXPIRE a 10") == ":1");
  CHECK(h.Run("PERSIST a") == ":1");
  CHECK(h.Run("PTTL a") == ":-1");
}

TEST_CASE("natives: a transaction runs them, and MEMORY and COMMAND know them") {
  CommandHarness h;
  CHECK(h.Run("MULTI") == "+OK");
  for (const char* line : {"LIMIT.TAKE l FIXED 1 60s", "LIMIT.TAKE l FIXED 1 60s", "HITS.ADD h 10s",
                           "ACTIVE.TOUCH a x"}) {
    CHECK(h.Run(line) == "+QUEUED");
  }
  CHECK(h.Run("EXEC") == "[[:1 :1 :0 :0 :60000 :0] [:0 :1 :0 :60000 :60000 :1] :1 :1]");
  for (const char* key : {"l", "h", "a"}) {
    const std::string bytes = h.Run(StrCat("MEMORY USAGE ", key));
    REQUIRE(bytes.substr(0, 1) == ":");
    CHECK(std::stoll(bytes.substr(1)) > 0);
  }
  CHECK(h.Run("COMMAND GETKEYS LIMIT.TAKE a FIXED 1 60s AND b POLICY AND AND c ALLOW COST 2") ==
        "[\"a\" \"b\" \"c\"]");
}

}  // namespace tally::server::natives_edges_test
