// The replies were taken from redis-server 7.0.15.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "server/command_harness.h"

namespace tally::server::key_commands_test {
namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("del, unlink, exists, touch, type") {
  CommandHarness h;
  CHECK(h.Run("MSET a 1 b 2 c 3") == "+OK");
  CHECK(h.Run("DEL a none a") == ":1");
  CHECK(h.Run("EXISTS a b b c") == ":3");
  CHECK(h.Run("TOUCH b c none") == ":2");
  CHECK(h.Run("UNLINK b c") == ":2");
  CHECK(h.Run("DBSIZE") == ":0");
  CHECK(h.Run("TYPE a") == "+none");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("TYPE a") == "+string");
  h.Run("RPUSH l 1");
  CHECK(h.Run("TYPE l") == "+list");
  CHECK(h.Run("DEL") == "-ERR wrong number of arguments for 'del' command");
  CHECK(h.Run("EXISTS") == "-ERR wrong number of arguments for 'exists' command");
  CHECK(h.Run("TYPE") == "-ERR wrong number of arguments for 'type' command");
  CHECK(h.Run("TYPE a b") == "-ERR wrong number of arguments for 'type' command");
}

TEST_CASE("calls with more keys than are fetched together") {
  CommandHarness h;
  std::vector<std::string> pairs{"MSET"};
  std::vector<std::string> keys;
  std::string values;
  for (int i = 0; i < 100; ++i) {
    const std::string key = "key:" + std::to_string(i);
    pairs.insert(pairs.end(), {key, std::to_string(i)});
    keys.push_back(key);
    keys.push_back("none:" + std::to_string(i));
    values += (i == 0 ? "\"" : " \"") + std::to_string(i) + "\" nil";
  }
  const auto call = [&](const std::string& name) {
    std::vector<std::string> words{name};
    words.insert(words.end(), keys.begin(), keys.end());
    return h.Run(words);
  };
  CHECK(h.Run(pairs) == "+OK");
  CHECK(call("EXISTS") == ":100");
  CHECK(call("TOUCH") == ":100");
  CHECK(call("MGET") == "[" + values + "]");
  CHECK(call("DEL") == ":100");
  CHECK(call("EXISTS") == ":0");
}

TEST_CASE("a few random members of a large sorted set are distinct") {
  CommandHarness h;
  for (int i = 0; i < 2000; ++i) {
    h.Run({"ZADD", "z", std::to_string(i), "m" + std::to_string(i)});
  }
  for (const int count : {1, 19, 20, 500}) {
    const std::string reply = h.Run({"ZRANDMEMBER", "z", std::to_string(count)});
    std::set<std::string> members;
    for (size_t at = reply.find('m'); at != std::string::npos; at = reply.find('m', at + 1)) {
      members.insert(reply.substr(at, reply.find('"', at) - at));
    }
    CHECK(members.size() == static_cast<size_t>(count));
    for (const std::string& member : members) {
      CHECK(h.Run({"ZSCORE", "z", member}) == "\"" + member.substr(1) + "\"");
    }
  }
}

TEST_CASE("rename and renamenx") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("RENAME a b") == "+OK");
  CHECK(h.Run("GET b") == "\"1\"");
  CHECK(h.Run("EXISTS a") == ":0");
  CHECK(h.Run("RENAME none x") == "-ERR no such key");
  CHECK(h.Run("RENAMENX none x") == "-ERR no such key");
  CHECK(h.Run("RENAME b b") == "+OK");
  CHECK(h.Run("RENAMENX b b") == ":0");
  CHECK(h.Run("SET c 2") == "+OK");
  CHECK(h.Run("RENAMENX b c") == ":0");
  CHECK(h.Run("RENAMENX b d") == ":1");
  CHECK(h.Run("GET d") == "\"1\"");
  CHECK(h.Run("RENAME d c") == "+OK");
  CHECK(h.Run("GET c") == "\"1\"");
  CHECK(h.Run("DBSIZE") == ":1");
  CHECK(h.Run("SETEX t 100 v") == "+OK");
  CHECK(h.Run("RENAME t u") == "+OK");
  CHECK(h.Run("TTL u") == ":100");
  CHECK(h.Run("SET w 1") == "+OK");
  CHECK(h.Run("RENAME w u") == "+OK");
  CHECK(h.Run("TTL u") == ":-1");
  CHECK(h.Run("RENAME none none") == "-ERR no such key");
  CHECK(h.Run("RENAME a") == "-ERR wrong number of arguments for 'rename' command");
}

TEST_CASE("copy") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("COPY a b") == ":1");
  CHECK(h.Run("GET b") == "\"1\"");
  CHECK(h.Run("COPY a b") == ":0");
  CHECK(h.Run("SET a 2") == "+OK");
  CHECK(h.Run("COPY a b REPLACE") == ":1");
  CHECK(h.Run("GET b") == "\"2\"");
  CHECK(h.Run("COPY none x") == ":0");
  CHECK(h.Run("COPY a a") == "-ERR source and destination objects are the same");
  CHECK(h.Run("COPY a a DB 1") == ":1");
  CHECK(h.Run("COPY a a DB 1") == ":0");
  CHECK(h.Run("COPY a a DB 16") == "-ERR DB index is out of range");
  CHECK(h.Run("COPY a a DB x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("COPY a b foo") == "-ERR syntax error");
  CHECK(h.Run("COPY a b DB") == "-ERR syntax error");
  CHECK(h.Run("SETEX t 100 v") == "+OK");
  CHECK(h.Run("COPY t u") == ":1");
  CHECK(h.Run("TTL u") == ":100");
  h.Run("RPUSH l 1 2");
  CHECK(h.Run("COPY l m") == ":1");
  CHECK(h.Run("RPUSH m 3") == ":3");
  CHECK(h.Run("LLEN l") == ":2");
  CHECK(h.Run("LLEN m") == ":3");
  CHECK(h.Run("SELECT 1") == "+OK");
  CHECK(h.Run("GET a") == "\"2\"");
}

TEST_CASE("move") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("MOVE a 1") == ":1");
  CHECK(h.Run("MOVE a 1") == ":0");
  CHECK(h.Run("EXISTS a") == ":0");
  CHECK(h.Run("SELECT 1") == "+OK");
  CHECK(h.Run("GET a") == "\"1\"");
  CHECK(h.Run("SELECT 0") == "+OK");
  CHECK(h.Run("SET a 2") == "+OK");
  CHECK(h.Run("MOVE a 1") == ":0");
  CHECK(h.Run("MOVE a 0") == "-ERR source and destination objects are the same");
  CHECK(h.Run("MOVE a 16") == "-ERR DB index is out of range");
  CHECK(h.Run("MOVE a -1") == "-ERR DB index is out of range");
  CHECK(h.Run("MOVE a x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("MOVE none 1") == ":0");
  CHECK(h.Run("SETEX t 100 v") == "+OK");
  CHECK(h.Run("MOVE t 1") == ":1");
  CHECK(h.Run("SELECT 1") == "+OK");
  CHECK(h.Run("TTL t") == ":100");
}

TEST_CASE("keys and randomkey") {
  CommandHarness h;
  CHECK(h.Run("RANDOMKEY") == "nil");
  CHECK(h.Run("KEYS *") == "[]");
  CHECK(h.Run("SET hello 1") == "+OK");
  CHECK(h.Run("RANDOMKEY") == "\"hello\"");
  CHECK(h.Run("KEYS h?llo") == "[\"hello\"]");
  CHECK(h.Run("KEYS h[ae]llo") == "[\"hello\"]");
  CHECK(h.Run("KEYS h[^e]llo") == "[]");
  CHECK(h.Run("KEYS h[a-f]*") == "[\"hello\"]");
  CHECK(h.Run("KEYS HELLO") == "[]");
  CHECK(h.Run("KEYS *l*o") == "[\"hello\"]");
  CHECK(h.Run("KEYS") == "-ERR wrong number of arguments for 'keys' command");
  CHECK(h.Run("KEYS a b") == "-ERR wrong number of arguments for 'keys' command");
}

TEST_CASE("object") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("OBJECT REFCOUNT none") == "nil");
  CHECK(h.Run("OBJECT ENCODING none") == "nil");
  CHECK(h.Run("OBJECT FREQ a") ==
        "-ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
        "that when switching between policies at runtime LRU and LFU data will take some time to "
        "adjust.");
  CHECK(h.Run("OBJECT FREQ none") == "nil");
  CHECK(h.Run("OBJECT IDLETIME none") == "nil");
  CHECK(h.Run("OBJECT IDLETIME a") == ":0");
  CHECK(h.Run("OBJECT foo a") == "-ERR unknown subcommand 'foo'. Try OBJECT HELP.");
  CHECK(h.Run("OBJECT") == "-ERR wrong number of arguments for 'object' command");
  CHECK(h.Run("OBJECT ENCODING") == "-ERR wrong number of arguments for 'object|encoding' command");
  CHECK(h.Run("OBJECT ENCODING a b") ==
        "-ERR wrong number of arguments for 'object|encoding' command");
}

TEST_CASE("keys: what is logged") {
  CommandHarness h;
  h.Run("MSET a 1 b 2");
  h.Effects();
  h.Run("DEL none");
  h.Run("DEL a none");
  h.Run("RENAMENX b b");
  h.Run("RENAME b c");
  h.Run("COPY c d");
  h.Run("COPY c d");
  h.Run("MOVE d 1");
  h.Run("TOUCH c");
  CHECK(h.Effects() == Lines{"DEL a none", "RENAME b c", "COPY c d", "MOVE d 1"});
}

TEST_CASE("keys: expired keys are nowhere to be seen") {
  CommandHarness h;
  h.Run("SET a 1 PX 10");
  h.Advance(10);
  CHECK(h.Run("KEYS *") == "[]");
  CHECK(h.Run("EXISTS a") == ":0");
  h.Run("SET a 1 PX 10");
  h.Advance(10);
  CHECK(h.Run("RANDOMKEY") == "nil");
  h.Run("SET a 1 PX 10");
  h.Advance(10);
  CHECK(h.Run("DEL a") == ":0");
  h.Run("SET a 1 PX 10");
  h.Advance(10);
  CHECK(h.Run("RENAME a b") == "-ERR no such key");
  h.Run("SET a 1 PX 10");
  h.Advance(10);
  CHECK(h.Run("COPY a b") == ":0");
  CHECK(h.Run("OBJECT ENCODING a") == "nil");
}

TEST_CASE("keys: the time since the last access") {
  CommandHarness h;
  h.Run("SET a 1");
  h.Advance(5000);
  CHECK(h.Run("OBJECT IDLETIME a") == ":5");
  h.Run("GET a");
  CHECK(h.Run("OBJECT IDLETIME a") == ":0");
}

TEST_CASE("object: a key that was used before the clock was set is as idle as time has passed") {
  for (const int64_t jump_ms : {int64_t{-400} * 86'400'000, int64_t{400} * 86'400'000}) {
    CommandHarness h;
    h.Run("SET before 1");
    h.Advance(7'000);
    h.state.clock.Set(h.now() + jump_ms);
    h.Run("SET after 1");
    h.Advance(5'000);
    CHECK(h.Run("OBJECT IDLETIME before") == ":12");
    CHECK(h.Run("OBJECT IDLETIME after") == ":5");
  }
}

TEST_CASE("keys: watchers and listeners are told of both names") {
  Config config;
  config.notify_keyspace_events = kEventKeyevent | kEventAll;
  CommandHarness h(config);
  Client& listener = *h.Connect();
  Client& watcher = *h.Connect();
  h.state.pubsub.SubscribePattern(listener, "*");
  h.state.watches.Watch(watcher, 0, "b", false);
  h.Run("SET a 1");
  CHECK(h.Received(listener) == "[\"pmessage\" \"*\" \"__keyevent@0__:set\" \"a\"]");
  h.Run("RENAME a b");
  CHECK(h.Received(listener) ==
        "[\"pmessage\" \"*\" \"__keyevent@0__:rename_from\" \"a\"] "
        "[\"pmessage\" \"*\" \"__keyevent@0__:rename_to\" \"b\"]");
  CHECK(watcher.transaction.touched);
  h.Run("DEL b");
  CHECK(h.Received(listener) == "[\"pmessage\" \"*\" \"__keyevent@0__:del\" \"b\"]");
}

}  // namespace tally::server::key_commands_test
