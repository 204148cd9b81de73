#include <catch2/catch.hpp>
#include <set>

#include "random_seed.h"
#include "server/command_harness.h"

namespace tally::server::database_commands_test {
namespace {

// What a snapshot hears of whole databases.
struct WholeDatabases : Engine::SnapshotObserver {
  void BeforeClear(size_t database) override { text += StrCat("clear ", database, " "); }
  void BeforeSwap(size_t one, size_t other) override {
    text += StrCat("swap ", one, " ", other, " ");
  }
  void BeforeChange(Keyspace&, Keyspace::Segment&, std::string_view,
                    const Keyspace::Entry&) override {}
  void BeforeValueChange(void*, ByteRange) override {}
  bool KeepValue(void*) override { return false; }

  std::string text;
};

}  // namespace

TEST_CASE("dbsize, flushdb and flushall") {
  CommandHarness h;
  h.Run("MSET a 1 b 2");
  h.Run("SELECT 1");
  h.Run("SET c 3");
  h.Effects();
  CHECK(h.Run("DBSIZE") == ":1");
  CHECK(h.Run("FLUSHDB ASYNC") == "+OK");
  CHECK(h.Effects() == std::vector<std::string>{"FLUSHDB ASYNC"});
  CHECK(h.Run("DBSIZE") == ":0");
  h.Run("SELECT 0");
  CHECK(h.Run("DBSIZE") == ":2");
  CHECK(h.Run("FLUSHALL") == "+OK");
  CHECK(h.Run("DBSIZE") == ":0");
  CHECK(h.Run("flushall sync") == "+OK");
  CHECK(h.Effects() == std::vector<std::string>{"FLUSHALL", "flushall sync"});
  CHECK(h.Run("FLUSHALL foo") == "-ERR syntax error");
  CHECK(h.Run("FLUSHDB a b") == "-ERR syntax error");
  CHECK(h.Effects().empty());
}

TEST_CASE("flushing touches the watched keys that exist, and no others") {
  CommandHarness h;
  Client& there = *h.Connect();
  Client& absent = *h.Connect();
  h.Run("SET a 1");
  h.state.watches.Watch(there, 0, "a", false);
  h.state.watches.Watch(absent, 0, "b", false);
  h.Run("FLUSHDB");
  CHECK(there.transaction.touched);
  CHECK_FALSE(absent.transaction.touched);
}

TEST_CASE("swapdb: what clients see changes at once") {
  CommandHarness h;
  Client& other = *h.Connect();
  h.Run(other, "SELECT 1");
  h.Run("SET a 1");
  h.Effects();
  h.state.watches.Watch(other, 1, "a", false);
  CHECK(h.Run("SWAPDB 0 1") == "+OK");
  CHECK(h.Effects() == std::vector<std::string>{"SWAPDB 0 1"});
  CHECK(h.Run("GET a") == "nil");
  CHECK(h.Run(other, "GET a") == "\"1\"");
  CHECK(other.transaction.touched);
  CHECK(h.Run("SWAPDB 1 1") == "+OK");
  CHECK(h.Run(other, "GET a") == "\"1\"");
  CHECK(h.Run("SWAPDB 0 16") == "-ERR DB index is out of range");
  CHECK(h.Run("SWAPDB x 1") == "-ERR invalid first DB index");
  CHECK(h.Run("SWAPDB 0 x") == "-ERR invalid second DB index");
}

TEST_CASE("a snapshot under way hears of whole databases") {
  Config config;
  config.databases = 3;
  CommandHarness h(config);
  WholeDatabases heard;
  h.engine.BeginSnapshot(1, heard);
  h.Run("SELECT 1");
  for (const char* line : {"FLUSHDB", "SWAPDB 0 2", "SWAPDB 1 1", "FLUSHALL"}) h.Run(line);
  CHECK(heard.text == "clear 1 swap 0 2 clear 0 clear 1 clear 2 ");
  h.engine.EndSnapshot();
  h.Run("FLUSHDB");
  CHECK(heard.text.ends_with("clear 2 "));
}

TEST_CASE("time: seconds and microseconds") {
  CommandHarness h;
  h.Advance(1234);
  CHECK(h.Run("TIME") == "[\"1700000001\" \"234000\"]");
  CHECK(h.Run("TIME x") == "-ERR wrong number of arguments for 'time' command");
}

TEST_CASE("scan: options and errors") {
  CommandHarness h;
  CHECK(h.Run("SCAN 0") == "[\"0\" []]");
  h.Run("SET apple 1");
  CHECK(h.Run("SCAN 0") == "[\"0\" [\"apple\"]]");
  CHECK(h.Run("SCAN 0 MATCH a* COUNT 5") == "[\"0\" [\"apple\"]]");
  CHECK(h.Run("SCAN 0 MATCH b*") == "[\"0\" []]");
  CHECK(h.Run({"SCAN", "0", "MATCH", ""}) == "[\"0\" []]");
  CHECK(h.Run("SCAN 0 TYPE STRING") == "[\"0\" [\"apple\"]]");
  CHECK(h.Run("SCAN 0 TYPE list") == "[\"0\" []]");
  CHECK(h.Run("SCAN 0 TYPE foo") == "[\"0\" []]");
  CHECK(h.Run("SCAN 0 COUNT 0") == "-ERR syntax error");
  CHECK(h.Run("SCAN 0 COUNT x") == "-ERR value is not an integer or out of range");
  for (const char* line : {"SCAN 0 MATCH", "SCAN 0 COUNT", "SCAN 0 TYPE", "SCAN 0 foo x"}) {
    CHECK(h.Run(line) == "-ERR syntax error");
  }
}

TEST_CASE("scan: cursors as strtoul reads them") {
  CommandHarness h;
  for (const std::string_view cursor :
       {"", "0", "+0", "-0", "-1", "+1", "00", "18446744073709551615", "-18446744073709551615"}) {
    INFO(cursor);
    CHECK(h.Run({"SCAN", std::string(cursor)}) == "[\"0\" []]");
    CHECK(h.Run({"HSCAN", "none", std::string(cursor)}) == "[\"0\" []]");
  }
  CHECK(h.Run({"SCAN", std::string("0\0x", 3)}) == "[\"0\" []]");
  for (const char* cursor : {"x", "0x", "0x1", " 0", "0 ", "+", "-", "- 1", "+-1", "\t0", "1.0",
                             "18446744073709551616", "-18446744073709551616"}) {
    INFO(cursor);
    CHECK(h.Run({"SCAN", cursor}) == "-ERR invalid cursor");
    CHECK(h.Run({"ZSCAN", "none", cursor}) == "-ERR invalid cursor");
  }
}

TEST_CASE("scan: every key that stays is seen, also while others come and go") {
  CommandHarness h;
  test::SeededRandom random;
  INFO("seed " << random.seed());
  std::set<std::string> stays;
  for (int i = 0; i < 3000; ++i) {
    const std::string key = StrCat("stay:", i);
    h.Run({"SET", key, "1"});
    stays.insert(key);
  }
  h.Run({"SET", "due", "1", "PX", "5"});
  h.Advance(5);
  std::string cursor = "0";
  int calls = 0;
  do {
    // ["cursor" ["key" "key" …]]
    const std::string reply = h.Run({"SCAN", cursor, "COUNT", "50"});
    std::vector<std::string> words;
    for (size_t at = reply.find('"'); at != std::string::npos; at = reply.find('"', at)) {
      const size_t end = reply.find('"', at + 1);
      words.push_back(reply.substr(at + 1, end - at - 1));
      at = end + 1;
    }
    cursor = words[0];
    for (size_t i = 1; i < words.size(); ++i) {
      stays.erase(words[i]);
      CHECK(words[i] != "due");
    }
    for (int i = 0; i < 20; ++i) {
      const std::string key = StrCat("passing:", random.Below(2000));
      h.Run({random.OneIn(2) ? "DEL" : "SET", key, "1"});
    }
    REQUIRE(++calls < 10'000);
  } while (cursor != "0");
  CHECK(stays.empty());
  CHECK(calls > 10);
}

}  // namespace tally::server::database_commands_test
