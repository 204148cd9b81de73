// The families of sets: replies as redis-server 7.0 gives them, events and logged effects.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "server/command_harness.h"

namespace tally::server::sets_test {
namespace {

using Lines = std::vector<std::string>;
constexpr const char* kWrongType =
    "-WRONGTYPE Operation against a key holding the wrong kind of value";

TEST_CASE("sets: add, ask and remove") {
  CommandHarness server;
  CHECK(server.Run("SADD s a b a") == ":2");
  CHECK(server.Run("SADD s a") == ":0");
  CHECK(server.Run("SCARD s") == ":2");
  CHECK(server.Run("SCARD none") == ":0");
  CHECK(server.Run("SISMEMBER s a") == ":1");
  CHECK(server.Run("SISMEMBER s x") == ":0");
  CHECK(server.Run("SMISMEMBER s x a") == "[:0 :1]");
  CHECK(server.Run("SMISMEMBER none x a") == "[:0 :0]");
  CHECK(server.Run("SMEMBERS s") == "[\"a\" \"b\"]");
  CHECK(server.Run("SMEMBERS none") == "[]");
  CHECK(server.Run("SREM s x a") == ":1");
  CHECK(server.Run("SREM s x") == ":0");
  CHECK(server.Run("SREM none x") == ":0");
  CHECK(server.Run("SREM s b") == ":1");
  CHECK(server.Run("EXISTS s") == ":0");
  CHECK(server.Effects() == Lines{"SADD s a b a", "SREM s x a", "SREM s b"});
}

TEST_CASE("sets: integers are an intset in their order, up to the configured number") {
  Config config;
  config.set_max_intset_entries = 4;
  CommandHarness server(config);
  server.Run("SADD s 5 -1 300");
  CHECK(server.Run("SMEMBERS s") == "[\"-1\" \"5\" \"300\"]");
  CHECK(server.Run("OBJECT ENCODING s") == "\"intset\"");
  server.Run("SADD s 6 7");
  CHECK(server.Run("OBJECT ENCODING s") == "\"hashtable\"");
  CHECK(server.Run("SMISMEMBER s 5 -1 300 6 7 8") == "[:1 :1 :1 :1 :1 :0]");
  server.Run("SADD t 1 01");
  CHECK(server.Run("OBJECT ENCODING t") == "\"hashtable\"");
}

TEST_CASE("sets: many large popped members are logged in several commands") {
  CommandHarness server;
  for (int i = 0; i < 9; ++i) {
    server.Run({"SADD", "s", StrCat(i, std::string(400'000, 'x'))});
  }
  server.Effects();
  server.Wire(*server.self, {"SPOP", "s", "8"});
  const Lines effects = server.Effects();
  REQUIRE(effects.size() == 3);  // of three, three and two members
  CommandHarness replica;
  for (int i = 0; i < 9; ++i) {
    replica.Run({"SADD", "s", StrCat(i, std::string(400'000, 'x'))});
  }
  for (const std::string& effect : effects) replica.Run(effect.c_str());
  CHECK(replica.Run("SMEMBERS s") == server.Run("SMEMBERS s"));
}

TEST_CASE("sets: a popped member is logged as removed") {
  CommandHarness server;
  server.Run("SADD s 1 2 3 4 5");
  server.Effects();
  const std::string popped = server.Run("SPOP s");
  const std::string member = popped.substr(1, popped.size() - 2);
  CHECK(server.Effects() == Lines{"SREM s " + member});
  CHECK(server.Run({"SISMEMBER", "s", member}) == ":0");
  CHECK(server.Run("SCARD s") == ":4");

  CHECK(server.Run("SPOP s 0") == "[]");
  CHECK(server.Effects().empty());
  const std::string wire = server.Wire(*server.self, {"SPOP", "s", "2"});
  CHECK(wire.substr(0, 4) == "*2\r\n");
  const Lines effects = server.Effects();
  REQUIRE(effects.size() == 1);
  CHECK(effects[0].substr(0, 7) == "SREM s ");
  CHECK(effects[0].size() == 10);
  CHECK(server.Run("SCARD s") == ":2");

  server.Run("SPOP s 100");
  CHECK(server.Effects() == Lines{"DEL s"});
  CHECK(server.Run("EXISTS s") == ":0");
  server.Run("SADD one x");
  CHECK(server.Run("SPOP one") == "\"x\"");
  CHECK(server.Run("EXISTS one") == ":0");
  CHECK(server.Run("SPOP none") == "nil");
  CHECK(server.Run("SPOP none 1") == "[]");
  for (const char* line : {"SPOP one x", "SPOP one -1"}) {
    CHECK(server.Run(line) == "-ERR value is out of range, must be positive");
  }
  CHECK(server.Run("SPOP one 1 2") == "-ERR syntax error");
}

TEST_CASE("sets: random members") {
  CommandHarness server;
  server.Run("SADD s a b c");
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) seen.insert(server.Run("SRANDMEMBER s"));
  CHECK(seen == std::set<std::string>{"\"a\"", "\"b\"", "\"c\""});
  CHECK(server.Run("SRANDMEMBER s 100") == "[\"a\" \"b\" \"c\"]");
  CHECK(server.Run("SRANDMEMBER s 0") == "[]");
  CHECK(server.Run("SRANDMEMBER none") == "nil");
  CHECK(server.Run("SRANDMEMBER none -2") == "[]");
  CHECK(server.Run("SREM s b c") == ":2");
  CHECK(server.Run("SRANDMEMBER s -3") == "[\"a\" \"a\" \"a\"]");
  CHECK(server.Run("SRANDMEMBER s x") == "-ERR value is not an integer or out of range");
  CHECK(server.Run("SRANDMEMBER s 1 2") == "-ERR syntax error");
  CHECK(server.Run("SRANDMEMBER s -9223372036854775807") == "-ERR value is out of range");
}

TEST_CASE("sets: moves") {
  CommandHarness server;
  server.Run("SADD a x y");
  server.Run("SADD b y z");
  server.Run("SET s text");
  server.Effects();
  CHECK(server.Run("SMOVE a b x") == ":1");
  CHECK(server.Run("SMOVE a b none") == ":0");
  CHECK(server.Run("SMOVE a a y") == ":1");
  CHECK(server.Run("SMOVE a a none") == ":0");
  CHECK(server.Run("SMOVE none s y") == ":0");
  CHECK(server.Run("SMOVE s a y") == kWrongType);
  CHECK(server.Run("SMOVE a s y") == kWrongType);
  CHECK(server.Run("SMOVE a b y") == ":1");
  CHECK(server.Run("EXISTS a") == ":0");
  CHECK(server.Run("SMEMBERS b") == "[\"y\" \"z\" \"x\"]");
  CHECK(server.Run("SMOVE b fresh z") == ":1");
  CHECK(server.Run("SMEMBERS fresh") == "[\"z\"]");
  CHECK(server.Effects() == Lines{"SMOVE a b x", "SMOVE a b y", "SMOVE b fresh z"});
}

TEST_CASE("sets: scans") {
  CommandHarness server;
  server.Run("SADD s aa ab b");
  CHECK(server.Run("SSCAN s 0") == "[\"0\" [\"aa\" \"ab\" \"b\"]]");
  CHECK(server.Run("SSCAN s 0 MATCH a* COUNT 1") == "[\"0\" [\"aa\" \"ab\"]]");
  CHECK(server.Run("SSCAN none 0") == "[\"0\" []]");
  CHECK(server.Run("SSCAN s x") == "-ERR invalid cursor");
  CHECK(server.Run("SSCAN s 0 COUNT x") == "-ERR value is not an integer or out of range");
}

// Members in no particular order, sorted for comparison.
std::vector<std::string> Sorted(const std::string& reply) {
  std::vector<std::string> words;
  for (size_t at = reply.find('"'); at != std::string::npos; at = reply.find('"', at + 1)) {
    const size_t end = reply.find('"', at + 1);
    words.push_back(reply.substr(at + 1, end - at - 1));
    at = end;
  }
  std::sort(words.begin(), words.end());
  return words;
}

TEST_CASE("sets: intersection, union and difference") {
  CommandHarness server;
  server.Run("SADD a 1 2 3 x");
  server.Run("SADD b 2 3 4 x");
  server.Run("SADD c 3 x 9");
  server.Run("SET s text");
  CHECK(Sorted(server.Run("SINTER a b c")) == Lines{"3", "x"});
  CHECK(Sorted(server.Run("SINTER a a")) == Lines{"1", "2", "3", "x"});
  CHECK(server.Run("SINTER a none") == "[]");
  CHECK(server.Run("SINTER none") == "[]");
  CHECK(Sorted(server.Run("SUNION a none c")) == Lines{"1", "2", "3", "9", "x"});
  CHECK(server.Run("SUNION none") == "[]");
  CHECK(Sorted(server.Run("SDIFF a b")) == Lines{"1"});
  CHECK(Sorted(server.Run("SDIFF a none")) == Lines{"1", "2", "3", "x"});
  CHECK(server.Run("SDIFF a a") == "[]");
  CHECK(server.Run("SDIFF none a") == "[]");
  // One that is small beside the first is erased from a copy of it.
  server.Run("SADD few 1 7");
  CHECK(Sorted(server.Run("SDIFF a few")) == Lines{"2", "3", "x"});
  CHECK(server.Run("SCARD a") == ":4");
  for (const char* line : {"SINTER none s", "SUNION a s", "SDIFF none s", "SINTERCARD 2 none s",
                           "SINTERSTORE d none s", "SUNIONSTORE d a s", "SDIFFSTORE d a s"}) {
    INFO(line);
    CHECK(server.Run(line) == kWrongType);
  }
}

TEST_CASE("sets: stored results replace whatever the key held") {
  CommandHarness server;
  server.Run("SADD a 1 2 3");
  server.Run("SADD b 2 3 4");
  server.Run("SET d text EX 100");
  server.Effects();
  CHECK(server.Run("SINTERSTORE d a b") == ":2");
  CHECK(server.Run("SMEMBERS d") == "[\"2\" \"3\"]");
  CHECK(server.Run("OBJECT ENCODING d") == "\"intset\"");
  CHECK(server.Run("TTL d") == ":-1");
  CHECK(server.Run("SUNIONSTORE a a b") == ":4");
  CHECK(server.Run("SMEMBERS a") == "[\"1\" \"2\" \"3\" \"4\"]");
  CHECK(server.Run("SDIFFSTORE d a b") == ":1");
  CHECK(server.Run("SMEMBERS d") == "[\"1\"]");
  CHECK(server.Run("SDIFFSTORE d b a") == ":0");
  CHECK(server.Run("EXISTS d") == ":0");
  CHECK(server.Run("SINTERSTORE d a none") == ":0");
  CHECK(server.Effects() ==
        Lines{"SINTERSTORE d a b", "SUNIONSTORE a a b", "SDIFFSTORE d a b", "SDIFFSTORE d b a"});
}

TEST_CASE("sets: SINTERCARD") {
  CommandHarness server;
  server.Run("SADD a 1 2 3");
  server.Run("SADD b 2 3 4");
  CHECK(server.Run("SINTERCARD 2 a b") == ":2");
  CHECK(server.Run("SINTERCARD 2 a b LIMIT 1") == ":1");
  CHECK(server.Run("SINTERCARD 2 a b LIMIT 0") == ":2");
  CHECK(server.Run("SINTERCARD 2 a b LIMIT 9") == ":2");
  CHECK(server.Run("SINTERCARD 2 a b LIMIT 1 LIMIT 2") == ":2");
  CHECK(server.Run("SINTERCARD 2 a none") == ":0");
  CHECK(server.Run("SINTERCARD 0 a") == "-ERR numkeys should be greater than 0");
  CHECK(server.Run("SINTERCARD x a") == "-ERR numkeys should be greater than 0");
  CHECK(server.Run("SINTERCARD 3 a b") ==
        "-ERR Number of keys can't be greater than number of args");
  CHECK(server.Run("SINTERCARD 1 a b") == "-ERR syntax error");
  CHECK(server.Run("SINTERCARD 2 a b LIMIT") == "-ERR syntax error");
  CHECK(server.Run("SINTERCARD 2 a b LIMIT -1") == "-ERR LIMIT can't be negative");
  CHECK(server.Run("SINTERCARD 2 a b LIMIT x") == "-ERR LIMIT can't be negative");

  const Command& command = *server.commands.Find("sintercard")->command;
  std::vector<KeyReference> keys;
  const std::vector<std::string_view> call{"sintercard", "2", "a", "b", "limit", "1"};
  CHECK(FindKeys(command, call, keys));
  CHECK(keys == std::vector<KeyReference>{{2, kReadsKey}, {3, kReadsKey}});
  const std::vector<std::string_view> wrong{"sintercard", "3", "a", "b"};
  CHECK_FALSE(FindKeys(command, wrong, keys));
}

TEST_CASE("sets: wrong types") {
  CommandHarness server;
  server.Run("SET s x");
  for (const char* line :
       {"SADD s a", "SREM s a", "SCARD s", "SISMEMBER s a", "SMISMEMBER s a", "SMEMBERS s",
        "SPOP s", "SPOP s 1", "SRANDMEMBER s", "SRANDMEMBER s 1", "SSCAN s 0"}) {
    INFO(line);
    CHECK(server.Run(line) == kWrongType);
  }
}

TEST_CASE("sets: RESP3 has sets") {
  CommandHarness server;
  server.self->reply.set_protocol(3);
  server.Run("SADD s 1 2");
  CHECK(server.Run("SMEMBERS s") == "~[\"1\" \"2\"]");
  CHECK(server.Run("SINTER s") == "~[\"1\" \"2\"]");
  CHECK(server.Run("SUNION none") == "~[]");
  CHECK(server.Run("SDIFF s") == "~[\"1\" \"2\"]");
  CHECK(server.Run("SINTER s none") == "~[]");
  CHECK(server.Run("SRANDMEMBER s 2") == "[\"1\" \"2\"]");
  CHECK(server.Run("SPOP s 0") == "~[]");
  CHECK(server.Run("SPOP s 9") == "~[\"1\" \"2\"]");
  CHECK(server.Run("SPOP s 9") == "~[]");
  CHECK(server.Run("SMEMBERS s") == "~[]");
}

TEST_CASE("sets: keyspace events") {
  Config config;
  config.notify_keyspace_events = kEventKeyevent | kEventSet | kEventGeneric;
  CommandHarness server(config);
  Client* listener = server.Connect();
  server.state.pubsub.SubscribePattern(*listener, "*");
  const auto events = [&](const char* line) {
    server.Received(*listener);
    server.Run(line);
    return server.Received(*listener);
  };
  const auto event = [](const std::string& name, const std::string& key) {
    return "[\"pmessage\" \"*\" \"__keyevent@0__:" + name + "\" \"" + key + "\"]";
  };
  CHECK(events("SADD s 1 2 3") == event("sadd", "s"));
  CHECK(events("SADD s 1") == "");
  CHECK(events("SREM s 1") == event("srem", "s"));
  CHECK(events("SMOVE s t 2") == event("srem", "s") + " " + event("sadd", "t"));
  CHECK(events("SMOVE s t 3") ==
        event("srem", "s") + " " + event("del", "s") + " " + event("sadd", "t"));
  CHECK(events("SUNIONSTORE d t") == event("sunionstore", "d"));
  CHECK(events("SINTERSTORE d t") == event("sinterstore", "d"));
  CHECK(events("SDIFFSTORE e d none") == event("sdiffstore", "e"));
  CHECK(events("SDIFFSTORE e d t") == event("del", "e"));
  CHECK(events("SPOP t") == event("spop", "t"));
  CHECK(events("SPOP t") == event("spop", "t") + " " + event("del", "t"));
  CHECK(events("SPOP d 5") == event("spop", "d") + " " + event("del", "d"));
}

}  // namespace
}  // namespace tally::server::sets_test
