#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <vector>

#include "random_seed.h"
#include "server/command_harness.h"

namespace tally::server::list_commands_test {
namespace {

constexpr char kWrongType[] = "-WRONGTYPE Operation against a key holding the wrong kind of value";

using Lines = std::vector<std::string>;

// What the log of one server does to another that had the same content.
void Replay(CommandHarness& from, CommandHarness& to) {
  for (const std::string& line : from.Effects()) to.Run(line.c_str());
}

}  // namespace

TEST_CASE("lists: elements are pushed and popped at both ends") {
  CommandHarness h;
  CHECK(h.Run("RPUSH k 1 2 3") == ":3");
  CHECK(h.Run("LPUSH k 0 x") == ":5");
  CHECK(h.Run("LRANGE k 0 -1") == "[\"x\" \"0\" \"1\" \"2\" \"3\"]");
  CHECK(h.Run("LPOP k") == "\"x\"");
  CHECK(h.Run("RPOP k") == "\"3\"");
  CHECK(h.Run("LPOP k 2") == "[\"0\" \"1\"]");
  CHECK(h.Run("RPUSH k 4") == ":2");
  CHECK(h.Run("RPOP k 9") == "[\"4\" \"2\"]");
  CHECK(h.Run("EXISTS k") == ":0");
  CHECK(h.Run("LPOP k 0 0") == "-ERR wrong number of arguments for 'lpop' command");
}

TEST_CASE("lists: what is absent") {
  CommandHarness h;
  CHECK(h.Run("LPUSHX k 1") == ":0");
  CHECK(h.Run("RPUSHX k 1") == ":0");
  CHECK(h.Run("LLEN k") == ":0");
  CHECK(h.Run("LRANGE k 0 -1") == "[]");
  CHECK(h.Run("LREM k 0 x") == ":0");
  CHECK(h.Run("LTRIM k 0 1") == "+OK");
  CHECK(h.Run("LSET k 0 x") == "-ERR no such key");
  CHECK(h.Run("LINSERT k BEFORE a b") == ":0");
  CHECK(h.Run("LPOS k a COUNT 0") == "[]");
  CHECK(h.Effects() == Lines{});
  CHECK(h.Wire(*h.self, {"LPOP", "k"}) == "$-1\r\n");
  CHECK(h.Wire(*h.self, {"LPOP", "k", "1"}) == "*-1\r\n");
  CHECK(h.Wire(*h.self, {"LINDEX", "k", "0"}) == "$-1\r\n");
  CHECK(h.Wire(*h.self, {"LPOS", "k", "x"}) == "$-1\r\n");
  CHECK(h.Wire(*h.self, {"LMOVE", "k", "k", "LEFT", "LEFT"}) == "$-1\r\n");
  CHECK(h.Wire(*h.self, {"LMPOP", "1", "k", "LEFT"}) == "*-1\r\n");
  h.Run("HELLO 3");
  CHECK(h.Wire(*h.self, {"LPOP", "k", "1"}) == "_\r\n");
}

TEST_CASE("lists: every command minds the type") {
  CommandHarness h;
  h.Run("SET s x");
  h.Run("RPUSH k 1");
  for (const char* line :
       {"LPUSH s 1", "RPUSHX s 1", "LPOP s", "RPOP s 0", "LLEN s", "LINDEX s 0", "LRANGE s 0 0",
        "LTRIM s 0 0", "LSET s 0 x", "LREM s 0 x", "LINSERT s AFTER a b", "LPOS s x COUNT 1",
        "LMOVE s k LEFT LEFT", "LMOVE k s LEFT LEFT", "RPOPLPUSH k s", "LMPOP 2 s k LEFT"}) {
    INFO(line);
    CHECK(h.Run(line) == kWrongType);
  }
  CHECK(h.Run("LRANGE k 0 -1") == "[\"1\"]");
  CHECK(h.Run("INCR k") == kWrongType);
  CHECK(h.Run("TYPE k") == "+list");
}

TEST_CASE("lists: indexes and ranges may count from the end") {
  CommandHarness h;
  h.Run("RPUSH k 0 1 2 3 4");
  CHECK(h.Run("LINDEX k 4") == "\"4\"");
  CHECK(h.Run("LINDEX k -5") == "\"0\"");
  CHECK(h.Run("LINDEX k 5") == "nil");
  CHECK(h.Run("LINDEX k -6") == "nil");
  CHECK(h.Run("LINDEX k -9223372036854775808") == "nil");
  CHECK(h.Run("LRANGE k -2 100") == "[\"3\" \"4\"]");
  CHECK(h.Run("LRANGE k -100 1") == "[\"0\" \"1\"]");
  CHECK(h.Run("LRANGE k 3 2") == "[]");
  CHECK(h.Run("LRANGE k 5 9") == "[]");
  CHECK(h.Run("LRANGE k 0 -6") == "[]");
  CHECK(h.Run("LRANGE k 0 x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("LSET k -1 four") == "+OK");
  CHECK(h.Run("LSET k 5 x") == "-ERR index out of range");
  CHECK(h.Run("LTRIM k 1 -2") == "+OK");
  CHECK(h.Run("LRANGE k 0 -1") == "[\"1\" \"2\" \"3\"]");
  CHECK(h.Run("LTRIM k 2 1") == "+OK");
  CHECK(h.Run("EXISTS k") == ":0");
}

TEST_CASE("lists: a trim that takes nothing is not logged") {
  CommandHarness h;
  h.Run("RPUSH k 1 2");
  CHECK(h.Run("LTRIM k 0 99") == "+OK");
  CHECK(h.Run("LTRIM k 1 -1") == "+OK");
  CHECK(h.Effects() == Lines{"RPUSH k 1 2", "LTRIM k 1 -1"});
}

TEST_CASE("lists: positions of an element") {
  CommandHarness h;
  h.Run("RPUSH k a b c 1 2 3 c c");
  CHECK(h.Run("LPOS k c") == ":2");
  CHECK(h.Run("LPOS k c RANK 2") == ":6");
  CHECK(h.Run("LPOS k c RANK -1") == ":7");
  CHECK(h.Run("LPOS k c RANK -4") == "nil");
  CHECK(h.Run("LPOS k c RANK -9223372036854775807") == "nil");
  CHECK(h.Run("LPOS k c RANK -9223372036854775808") ==
        "-ERR value is out of range, value must between -9223372036854775807 and "
        "9223372036854775807");
  CHECK(h.Run("LPOS k c COUNT 2") == "[:2 :6]");
  CHECK(h.Run("LPOS k c COUNT 0 RANK -1") == "[:7 :6 :2]");
  CHECK(h.Run("LPOS k c COUNT 0 MAXLEN 3") == "[:2]");
  CHECK(h.Run("LPOS k c COUNT 0 MAXLEN 2 RANK -1") == "[:7 :6]");
  CHECK(h.Run("LPOS k x COUNT 0") == "[]");
  CHECK(h.Run("LPOS k x RANK 0").starts_with("-ERR RANK can't be zero"));
  CHECK(h.Run("LPOS k x COUNT -1") == "-ERR COUNT can't be negative");
  CHECK(h.Run("LPOS k x MAXLEN -1") == "-ERR MAXLEN can't be negative");
  CHECK(h.Run("LPOS k x RANK") == "-ERR syntax error");
}

TEST_CASE("lists: moving between lists and within one") {
  CommandHarness h;
  h.Run("RPUSH a 1 2 3");
  CHECK(h.Run("RPOPLPUSH a b") == "\"3\"");
  CHECK(h.Run("LMOVE a b left RIGHT") == "\"1\"");
  CHECK(h.Run("LRANGE b 0 -1") == "[\"3\" \"1\"]");
  CHECK(h.Run("LMOVE b b LEFT RIGHT") == "\"3\"");
  CHECK(h.Run("LRANGE b 0 -1") == "[\"1\" \"3\"]");
  CHECK(h.Run("LMOVE a a RIGHT RIGHT") == "\"2\"");
  CHECK(h.Run("LMOVE a b RIGHT LEFT") == "\"2\"");
  CHECK(h.Run("EXISTS a") == ":0");
  CHECK(h.Run("LMOVE a b UP LEFT") == "-ERR syntax error");
}

TEST_CASE("lists: LMPOP takes from the first list that is there, and is logged as a pop") {
  CommandHarness h;
  h.Run("RPUSH b 1 2 3");
  h.Effects();
  CHECK(h.Run("LMPOP 2 a b RIGHT COUNT 2") == "[\"b\" [\"3\" \"2\"]]");
  CHECK(h.Run("LMPOP 2 a b LEFT") == "[\"b\" [\"1\"]]");
  CHECK(h.Effects() == Lines{"RPOP b 2", "LPOP b 1"});
  CHECK(h.Run("LMPOP 0 a LEFT") == "-ERR numkeys should be greater than 0");
  CHECK(h.Run("LMPOP 9223372036854775807 a LEFT") == "-ERR syntax error");
  CHECK(h.Run("LMPOP 1 a LEFT COUNT 0") == "-ERR count should be greater than 0");
  CHECK(h.Run("LMPOP 1 a LEFT COUNT 1 COUNT 1") == "-ERR syntax error");
}

TEST_CASE("lists: the encoding says whether a list is integers") {
  CommandHarness h;
  h.Run("RPUSH k 1700000000");
  CHECK(h.Run("OBJECT ENCODING k") == "\"intring\"");
  h.Run("RPUSH k x");
  CHECK(h.Run("OBJECT ENCODING k") == "\"quicklist\"");
  CHECK(h.Run("COPY k copy") == ":1");
  CHECK(h.Run("LRANGE copy 0 -1") == "[\"1700000000\" \"x\"]");
}

TEST_CASE("lists: commands at random do what they do to a deque, and so does their log") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  CommandHarness h;
  CommandHarness replica;
  std::deque<std::string> model;
  for (int step = 0; step < 4000; ++step) {
    const std::string element =
        random.Below(500) == 0 ? "x" : std::to_string(1'700'000'000 + random.Below(50));
    const size_t place = model.empty() ? 0 : random.Below(model.size());
    const bool left = random.Below(2) == 0;
    switch (random.Below(6)) {
      case 0:
      case 1:
      case 2:
        left ? model.push_front(element) : model.push_back(element);
        h.Run({left ? "LPUSH" : "RPUSH", "k", element});
        break;
      case 3: {
        const std::string popped = h.Run({left ? "LPOP" : "RPOP", "k"});
        if (model.empty()) {
          REQUIRE(popped == "nil");
          break;
        }
        REQUIRE(popped == StrCat("\"", left ? model.front() : model.back(), "\""));
        left ? model.pop_front() : model.pop_back();
        break;
      }
      case 4:
        if (!model.empty()) model[place] = element;
        h.Run({"LSET", "k", std::to_string(place), element});
        break;
      default:
        if (random.Below(40) != 0) break;
        h.Run({"LTRIM", "k", std::to_string(place / 4), "-3"});
        model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(place / 4));
        model.resize(model.size() < 2 ? 0 : model.size() - 2);
    }
    REQUIRE(h.Run("LLEN k") == StrCat(":", model.size()));
    const std::string at = h.Run({"LINDEX", "k", std::to_string(place)});
    REQUIRE(at == (place < model.size() ? StrCat("\"", model[place], "\"") : "nil"));
  }
  Replay(h, replica);
  CHECK(replica.Run("LRANGE k 0 -1") == h.Run("LRANGE k 0 -1"));
}

}  // namespace tally::server::list_commands_test
