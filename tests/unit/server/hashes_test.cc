// The families of hashes: replies as redis-server 7.0 gives them, events and logged effects.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/command_harness.h"

namespace tally::server::hashes_test {
namespace {

using Lines = std::vector<std::string>;
constexpr const char* kWrongType =
    "-WRONGTYPE Operation against a key holding the wrong kind of value";

TEST_CASE("hashes: set, get and delete") {
  CommandHarness server;
  CHECK(server.Run("HSET h a 1 b two") == ":2");
  CHECK(server.Run("HSET h a one c 3") == ":1");
  CHECK(server.Run("HGET h a") == "\"one\"");
  CHECK(server.Run("HGET h none") == "nil");
  CHECK(server.Run("HGET none a") == "nil");
  CHECK(server.Run("HMGET h c x a") == "[\"3\" nil \"one\"]");
  CHECK(server.Run("HMGET none a b") == "[nil nil]");
  CHECK(server.Run("HLEN h") == ":3");
  CHECK(server.Run("HLEN none") == ":0");
  CHECK(server.Run("HEXISTS h b") == ":1");
  CHECK(server.Run("HEXISTS h x") == ":0");
  CHECK(server.Run("HEXISTS none x") == ":0");
  CHECK(server.Run("HSTRLEN h b") == ":3");
  CHECK(server.Run("HSTRLEN h x") == ":0");
  CHECK(server.Run("HSETNX h a 2") == ":0");
  CHECK(server.Run("HSETNX h d 4") == ":1");
  CHECK(server.Run("HSETNX fresh d 4") == ":1");
  CHECK(server.Run("HMSET h b 2") == "+OK");
  CHECK(server.Run("HDEL h a x c") == ":2");
  CHECK(server.Run("HGETALL h") == "[\"b\" \"2\" \"d\" \"4\"]");
  CHECK(server.Effects() == Lines{"HSET h a 1 b two", "HSET h a one c 3", "HSETNX h d 4",
                                  "HSETNX fresh d 4", "HMSET h b 2", "HDEL h a x c"});
}

TEST_CASE("hashes: binary fields and values come back as they went in") {
  CommandHarness server;
  const std::string field("\xff\0\r\n", 4);
  const std::string value("\x93\x01\x00\xf7", 4);
  CHECK(server.Run({"HSET", "h", field, value}) == ":1");
  CHECK(server.Wire(*server.self, {"HGET", "h", field}) == "$4\r\n" + value + "\r\n");
  CHECK(server.Wire(*server.self, {"HKEYS", "h"}) == "*1\r\n$4\r\n" + field + "\r\n");
}

TEST_CASE("hashes: a small one keeps the order of insertion") {
  CommandHarness server;
  server.Run("HSET h z 1 a 2 5 3 m 4");
  server.Run("HSET h a longer");
  server.Run("HINCRBY h z 1000");
  CHECK(server.Run("HKEYS h") == "[\"z\" \"a\" \"5\" \"m\"]");
  CHECK(server.Run("HVALS h") == "[\"1001\" \"longer\" \"3\" \"4\"]");
  CHECK(server.Run("HGETALL h") == "[\"z\" \"1001\" \"a\" \"longer\" \"5\" \"3\" \"m\" \"4\"]");
  CHECK(server.Run("OBJECT ENCODING h") == "\"listpack\"");
  CHECK(server.Run("HGETALL none") == "[]");
  CHECK(server.Run("HKEYS none") == "[]");
  CHECK(server.Run("HVALS none") == "[]");
}

TEST_CASE("hashes: the encoding follows the configured limits") {
  Config config;
  config.hash_max_listpack_entries = 2;
  config.hash_max_listpack_value = 4;
  CommandHarness server(config);
  server.Run("HSET h a 1 b 2");
  server.Run("HSET v a 1234");
  CHECK(server.Run("OBJECT ENCODING h") == "\"listpack\"");
  CHECK(server.Run("OBJECT ENCODING v") == "\"listpack\"");
  server.Run("HINCRBY h c 1");
  server.Run("HSET v a 12345");
  CHECK(server.Run("OBJECT ENCODING h") == "\"hashtable\"");
  CHECK(server.Run("OBJECT ENCODING v") == "\"hashtable\"");
  CHECK(server.Run("HMGET h a b c") == "[\"1\" \"2\" \"1\"]");
}

TEST_CASE("hashes: an emptied one ends its key") {
  CommandHarness server;
  server.Run("HSET h a 1 b 2");
  CHECK(server.Run("HDEL h a b") == ":2");
  CHECK(server.Run("EXISTS h") == ":0");
  CHECK(server.Run("HDEL h a") == ":0");
  CHECK(server.Effects() == Lines{"HSET h a 1 b 2", "HDEL h a b"});
}

TEST_CASE("hashes: a copy is a value of its own, also from saved runs") {
  CommandHarness server;
  server.Run("HSET h a 1 b 2");
  CHECK(server.Run("COPY h copy") == ":1");
  server.Run("HSET h a 9");
  CHECK(server.Run("HGETALL copy") == "[\"a\" \"1\" \"b\" \"2\"]");

  const std::string text(200, 't');
  server.Run("HSET large a 1 b " + text);
  const ValueOperations& operations = OperationsOf(Type::kHash);
  Keyspace& keyspace = server.engine.database(0);
  std::string run;
  CHECK(operations.save(keyspace.Peek("large", server.now()).pointer(), 0, 1000, run) == 0);
  void* loaded = operations.create(server.engine.seed(), server.zones);
  CHECK(operations.load(loaded, run));
  CHECK(operations.weight(loaded) == 2);
  CHECK(operations.memory_bytes(loaded) > 0);
  keyspace.SetPointer("loaded", Type::kHash, loaded, kNoDeadline, server.now());
  CHECK(server.Run("HGETALL loaded") == "[\"a\" \"1\" \"b\" \"" + text + "\"]");
}

TEST_CASE("hashes: grow out of their key's record and keep what it held") {
  CommandHarness server;
  const auto is_heap = [&] { return server.engine.database(0).Peek("h", server.now()).is_heap(); };
  server.Run("HSET h a 1");
  server.Run("PEXPIRE h 60000");
  std::string expected = "[\"a\" \"1\"";
  for (int i = 100; i < 130; ++i) {
    CHECK(server.Run(StrCat("HSET h field", i, " ", i)) == ":1");
    StrAppend(expected, " \"field", i, "\" \"", i, "\"");
    CHECK(is_heap() == (i >= 110));
  }
  CHECK(server.Run("HGETALL h") == expected + "]");
  CHECK(server.Run("PTTL h") == ":60000");
  CHECK(server.Run("OBJECT ENCODING h") == "\"listpack\"");
  // It does not go back: a hash that is emptied and filled in turn would move each time.
  for (int i = 100; i < 130; ++i) server.Run(StrCat("HDEL h field", i));
  CHECK(is_heap());
  CHECK(server.Run("HINCRBY h a 5") == ":6");
  CHECK(server.Run("PERSIST h") == ":1");
  CHECK(server.Run("HGETALL h") == "[\"a\" \"6\"]");
}

TEST_CASE("hashes: a small one changes under its deadline") {
  CommandHarness server;
  server.Run("HSET h a 1");
  server.Run("PEXPIRE h 1000");
  server.Run("HINCRBY h a 1000000");
  server.Run("HINCRBYFLOAT h b 1.5");
  CHECK(server.Run("HSETNX h c x") == ":1");
  CHECK(server.Run("PTTL h") == ":1000");
  CHECK(server.Run("HGETALL h") == "[\"a\" \"1000001\" \"b\" \"1.5\" \"c\" \"x\"]");
  server.Advance(1000);
  CHECK(server.Run("EXISTS h") == ":0");
}

TEST_CASE("hashes: whole increments") {
  CommandHarness server;
  CHECK(server.Run("HINCRBY h n 5") == ":5");
  CHECK(server.Run("HINCRBY h n -300") == ":-295");
  CHECK(server.Run("HGET h n") == "\"-295\"");
  CHECK(server.Effects() == Lines{"HINCRBY h n 5", "HINCRBY h n -300"});
  server.Run("HSET h t 05 big 9223372036854775807");
  server.Effects();
  CHECK(server.Run("HINCRBY h t 1") == "-ERR hash value is not an integer");
  CHECK(server.Run("HINCRBY h big 1") == "-ERR increment or decrement would overflow");
  CHECK(server.Run("HINCRBY h n x") == "-ERR value is not an integer or out of range");
  CHECK(server.Run("HGET h big") == "\"9223372036854775807\"");
  CHECK(server.Effects().empty());
}

TEST_CASE("hashes: increments with a fraction are logged by their result") {
  CommandHarness server;
  CHECK(server.Run("HINCRBYFLOAT h f 1.5") == "\"1.5\"");
  CHECK(server.Run("HINCRBYFLOAT h f 1e-1") == "\"1.6\"");
  CHECK(server.Effects() == Lines{"HSET h f 1.5", "HSET h f 1.6"});
  server.Run({"HSET", "h", "t", " 1", "inf", "inf"});
  server.Effects();
  CHECK(server.Run("HINCRBYFLOAT h f abc") == "-ERR value is not a valid float");
  CHECK(server.Run("HINCRBYFLOAT h f nan") == "-ERR value is not a valid float");
  CHECK(server.Run("HINCRBYFLOAT h f inf") == "-ERR value is NaN or Infinity");
  CHECK(server.Run("HINCRBYFLOAT h t 1") == "-ERR hash value is not a float");
  CHECK(server.Run("HINCRBYFLOAT h inf 1") == "-ERR increment would produce NaN or Infinity");
  CHECK(server.Effects().empty());
}

TEST_CASE("hashes: wrong types, arities and arguments") {
  CommandHarness server;
  server.Run("SET s x");
  for (const char* line :
       {"HSET s a 1", "HMSET s a 1", "HSETNX s a 1", "HGET s a", "HMGET s a", "HGETALL s",
        "HKEYS s", "HVALS s", "HDEL s a", "HLEN s", "HEXISTS s a", "HSTRLEN s a", "HINCRBY s a 1",
        "HINCRBYFLOAT s a 1", "HSCAN s 0", "HRANDFIELD s", "HRANDFIELD s 1"}) {
    INFO(line);
    CHECK(server.Run(line) == kWrongType);
  }
  CHECK(server.Run("HSET s a") == "-ERR wrong number of arguments for 'hset' command");
  CHECK(server.Run("HSET h a 1 b") == "-ERR wrong number of arguments for 'hset' command");
  CHECK(server.Run("HMSET h a 1 b") == "-ERR wrong number of arguments for 'hmset' command");
  CHECK(server.Run("HINCRBY s a x") == "-ERR value is not an integer or out of range");
  CHECK(server.Run("EXISTS h") == ":0");
}

TEST_CASE("hashes: RESP3 has maps and pairs") {
  CommandHarness server;
  server.self->reply.set_protocol(3);
  server.Run("HSET h a 1 b 2");
  CHECK(server.Run("HGETALL h") == "{\"a\" \"1\" \"b\" \"2\"}");
  CHECK(server.Run("HGETALL none") == "{}");
  CHECK(server.Run("HKEYS h") == "[\"a\" \"b\"]");
  CHECK(server.Run("HRANDFIELD h 9 WITHVALUES") == "[[\"a\" \"1\"] [\"b\" \"2\"]]");
  CHECK(server.Run("HRANDFIELD none 9 WITHVALUES") == "[]");
  CHECK(server.Run("HSCAN h 0") == "[\"0\" [\"a\" \"1\" \"b\" \"2\"]]");
}

TEST_CASE("hashes: random fields") {
  CommandHarness server;
  server.Run("HSET h a 1 b 2 c 3");
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) seen.insert(server.Run("HRANDFIELD h"));
  CHECK(seen == std::set<std::string>{"\"a\"", "\"b\"", "\"c\""});
  CHECK(server.Run("HRANDFIELD h 3") == "[\"a\" \"b\" \"c\"]");
  CHECK(server.Run("HRANDFIELD h 0") == "[]");
  CHECK(server.Run("HRANDFIELD none") == "nil");
  CHECK(server.Run("HRANDFIELD none 3") == "[]");
  CHECK(server.Run("HDEL h b c") == ":2");
  CHECK(server.Run("HRANDFIELD h -3") == "[\"a\" \"a\" \"a\"]");
  CHECK(server.Run("HRANDFIELD h -2 WITHVALUES") == "[\"a\" \"1\" \"a\" \"1\"]");
  CHECK(server.Run("HRANDFIELD h x") == "-ERR value is not an integer or out of range");
  CHECK(server.Run("HRANDFIELD h 1 NOVALUES") == "-ERR syntax error");
  CHECK(server.Run("HRANDFIELD h 1 WITHVALUES more") == "-ERR syntax error");
  CHECK(server.Run("HRANDFIELD h -9223372036854775808") ==
        "-ERR value is out of range, value must between -9223372036854775807 and "
        "9223372036854775807");
  CHECK(server.Run("HRANDFIELD h -9223372036854775807 WITHVALUES") == "-ERR value is out of range");
  CHECK(server.Run("HRANDFIELD h 9223372036854775807 WITHVALUES") == "-ERR value is out of range");
  CHECK(server.Run("HRANDFIELD h 9223372036854775807") == "[\"a\"]");
}

TEST_CASE("hashes: scans") {
  CommandHarness server;
  server.Run("HSET h aa 1 ab 2 b 3");
  CHECK(server.Run("HSCAN h 0 COUNT 1") == "[\"0\" [\"aa\" \"1\" \"ab\" \"2\" \"b\" \"3\"]]");
  CHECK(server.Run("HSCAN h 0 MATCH a* COUNT 10") == "[\"0\" [\"aa\" \"1\" \"ab\" \"2\"]]");
  CHECK(server.Run("HSCAN none 0") == "[\"0\" []]");
  CHECK(server.Run("HSCAN none x") == "-ERR invalid cursor");
  CHECK(server.Run("HSCAN none 0 nonsense") == "[\"0\" []]");
  CHECK(server.Run("HSCAN h 0 nonsense") == "-ERR syntax error");
  CHECK(server.Run("HSCAN h 0 COUNT 0") == "-ERR syntax error");
  CHECK(server.Run("HSCAN h 0 TYPE hash") == "-ERR syntax error");
}

TEST_CASE("hashes: keyspace events") {
  Config config;
  config.notify_keyspace_events = kEventKeyevent | kEventHash | kEventGeneric;
  CommandHarness server(config);
  Client* listener = server.Connect();
  server.state.pubsub.SubscribePattern(*listener, "*");
  const auto events = [&](const char* line) {
    server.Received(*listener);
    server.Run(line);
    return server.Received(*listener);
  };
  const auto event = [](const std::string& name) {
    return "[\"pmessage\" \"*\" \"__keyevent@0__:" + name + "\" \"h\"]";
  };
  CHECK(events("HSET h a 1 b 1") == event("hset"));
  CHECK(events("HSETNX h a 1") == "");
  CHECK(events("HINCRBY h a 1") == event("hincrby"));
  CHECK(events("HINCRBYFLOAT h a 1") == event("hincrbyfloat"));
  CHECK(events("HDEL h x") == "");
  CHECK(events("HDEL h a b") == event("hdel") + " " + event("del"));
}

}  // namespace
}  // namespace tally::server::hashes_test
