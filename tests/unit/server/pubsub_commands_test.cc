#include <catch2/catch.hpp>
#include <string>

#include "server/command_harness.h"

namespace tally::server::pubsub_commands_test {
namespace {

Config WithEvents(uint32_t classes) {
  Config config;
  config.notify_keyspace_events = classes;
  return config;
}

}  // namespace

TEST_CASE("pubsub: a message reaches channels and patterns") {
  CommandHarness h;
  Client* listener = h.Connect();
  CHECK(h.Run("PUBLISH news hi") == ":0");
  CHECK(h.Wire(*listener, {"SUBSCRIBE", "news"}) ==
        "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
  CHECK(h.Wire(*listener, {"PSUBSCRIBE", "n*"}) == "*3\r\n$10\r\npsubscribe\r\n$2\r\nn*\r\n:2\r\n");
  CHECK(h.Run("PUBLISH news hi") == ":2");
  CHECK(listener->output.Joined() ==
        "*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n"
        "*4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$2\r\nhi\r\n");
  listener->output.Clear();
  CHECK(h.Run("PUBLISH other hi") == ":0");
  h.Disconnect(listener);
  CHECK(h.Run("PUBLISH news hi") == ":0");
}

TEST_CASE("pubsub: leaving channels by name and all at once") {
  CommandHarness h;
  CHECK(h.Wire(*h.self, {"UNSUBSCRIBE"}) == "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n");
  CHECK(h.Wire(*h.self, {"PUNSUBSCRIBE", "x"}) == "*3\r\n$12\r\npunsubscribe\r\n$1\r\nx\r\n:0\r\n");
  h.Run("SUBSCRIBE a b");
  h.Run("PSUBSCRIBE c*");
  CHECK(h.Wire(*h.self, {"UNSUBSCRIBE", "b"}) == "*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:2\r\n");
  CHECK(h.Wire(*h.self, {"UNSUBSCRIBE"}) == "*3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n");
  CHECK(h.Run("GET k").starts_with("-ERR Can't execute 'get': only"));
  CHECK(h.Wire(*h.self, {"PING"}) == "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
  CHECK(h.Wire(*h.self, {"PUNSUBSCRIBE"}) == "*3\r\n$12\r\npunsubscribe\r\n$2\r\nc*\r\n:0\r\n");
  CHECK(h.Run("GET k") == "nil");
  CHECK(h.state.pubsub.idle());
}

TEST_CASE("pubsub: RESP3 pushes, between replies and never inside one") {
  CommandHarness h;
  h.Run("HELLO 3");
  CHECK(h.Wire(*h.self, {"SUBSCRIBE", "a"}) == ">3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n");
  CHECK(h.Wire(*h.self, {"PUBLISH", "a", "x"}) ==
        ":1\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
  h.Run("MULTI");
  h.Run("PUBLISH a x");
  h.Run("PING");
  CHECK(h.Wire(*h.self, {"EXEC"}) ==
        "*2\r\n:1\r\n+PONG\r\n>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
  CHECK(h.Wire(*h.self, {"UNSUBSCRIBE"}) == ">3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n");
  CHECK(h.Wire(*h.self, {"UNSUBSCRIBE"}) == ">3\r\n$11\r\nunsubscribe\r\n_\r\n:0\r\n");
}

TEST_CASE("pubsub: who listens to what") {
  CommandHarness h;
  Client* one = h.Connect();
  Client* two = h.Connect();
  h.Run(*one, "SUBSCRIBE a ab");
  h.Run(*two, "SUBSCRIBE a");
  h.Run(*one, "PSUBSCRIBE *");
  h.Run(*two, "PSUBSCRIBE * x*");
  CHECK(h.Run("PUBSUB CHANNELS") == "[\"a\" \"ab\"]");
  CHECK(h.Run("PUBSUB CHANNELS ?b") == "[\"ab\"]");
  CHECK(h.Run("PUBSUB NUMSUB") == "[]");
  CHECK(h.Run("PUBSUB NUMSUB a none") == "[\"a\" :2 \"none\" :0]");
  CHECK(h.Run("PUBSUB NUMPAT") == ":2");
  CHECK(h.Run("PUBSUB CHANNELS a b") ==
        "-ERR unknown subcommand or wrong number of arguments for 'CHANNELS'. Try PUBSUB HELP.");
}

TEST_CASE("pubsub: shard channels have names and counts of their own") {
  CommandHarness h;
  Client* listener = h.Connect();
  CHECK(h.Wire(*listener, {"SUNSUBSCRIBE"}) == "*3\r\n$12\r\nsunsubscribe\r\n$-1\r\n:0\r\n");
  CHECK(h.Run(*listener, "SUBSCRIBE a") == "[\"subscribe\" \"a\" :1]");
  CHECK(h.Run(*listener, "PSUBSCRIBE *") == "[\"psubscribe\" \"*\" :2]");
  CHECK(h.Run(*listener, "SSUBSCRIBE b a b") ==
        "[\"ssubscribe\" \"b\" :1] [\"ssubscribe\" \"a\" :2] [\"ssubscribe\" \"b\" :2]");
  CHECK(h.Run("SPUBLISH a hi") == ":1");
  CHECK(h.Received(*listener) == "[\"smessage\" \"a\" \"hi\"]");
  CHECK(h.Run("SPUBLISH other hi") == ":0");
  CHECK(h.Run("PUBSUB SHARDCHANNELS") == "[\"a\" \"b\"]");
  CHECK(h.Run("PUBSUB SHARDCHANNELS a*") == "[\"a\"]");
  CHECK(h.Run("PUBSUB SHARDNUMSUB a none") == "[\"a\" :1 \"none\" :0]");
  CHECK(h.Run("PUBSUB CHANNELS") == "[\"a\"]");
  CHECK(h.Run("CLIENT LIST TYPE pubsub").find(" sub=1 psub=1 ssub=2 ") != std::string::npos);
  CHECK(h.Run(*listener, "UNSUBSCRIBE") == "[\"unsubscribe\" \"a\" :1]");
  CHECK(h.Run(*listener, "PUNSUBSCRIBE") == "[\"punsubscribe\" \"*\" :0]");
  CHECK(h.Run(*listener, "GET x").starts_with("-ERR Can't execute 'get'"));
  CHECK(h.Run(*listener, "SUNSUBSCRIBE") ==
        "[\"sunsubscribe\" \"a\" :1] [\"sunsubscribe\" \"b\" :0]");
  CHECK(h.Run(*listener, "GET x") == "nil");
  h.Run(*listener, "SSUBSCRIBE a");
  CHECK(h.Run(*listener, "RESET") == "+RESET");
  CHECK(h.Run("PUBSUB SHARDCHANNELS") == "[]");
}

TEST_CASE("pubsub: in MULTI a client may leave shard channels, but join none") {
  CommandHarness h;
  h.Run("MULTI");
  h.Run("SSUBSCRIBE a");
  h.Run("SUNSUBSCRIBE a");
  h.Run("SPUBLISH a x");
  CHECK(
      h.Run("EXEC") ==
      "[-ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client [\"sunsubscribe\" \"a\" :0] :0]");
}

TEST_CASE("key events: on both channels, as the classes choose") {
  CommandHarness h(WithEvents(kEventKeyspace | kEventKeyevent | kEventAll));
  Client* listener = h.Connect();
  h.Run(*listener, "PSUBSCRIBE __key*");
  h.Run("SELECT 2");
  h.Run("RPUSH l 1");
  CHECK(h.Received(*listener) ==
        "[\"pmessage\" \"__key*\" \"__keyspace@2__:l\" \"rpush\"] "
        "[\"pmessage\" \"__key*\" \"__keyevent@2__:rpush\" \"l\"]");
  h.state.key_events.set_classes(kEventKeyevent | kEventGeneric);
  h.Run("RPUSH l 1");
  h.Run("GET none");
  CHECK(h.Received(*listener) == "");
  h.Run("LPOP l 2");
  CHECK(h.Received(*listener) == "[\"pmessage\" \"__key*\" \"__keyevent@2__:del\" \"l\"]");
}

TEST_CASE("key events: a new key, a miss, an end") {
  CommandHarness h(WithEvents(kEventKeyevent | kEventNew | kEventKeyMiss | kEventExpired));
  Client* listener = h.Connect();
  h.Run(*listener, "PSUBSCRIBE *");
  const auto events = [&](const char* line) {
    h.Run(line);
    return h.Received(*listener);
  };
  const std::string head = "[\"pmessage\" \"*\" \"__keyevent@0__:";
  CHECK(events("GET k") == head + "keymiss\" \"k\"]");
  CHECK(events("SET k 1 PX 100") == head + "new\" \"k\"]");
  CHECK(events("SET k 1 PX 100") == "");
  h.Advance(100);
  CHECK(events("SET k 1 PX 100") == head + "expired\" \"k\"] " + head + "new\" \"k\"]");
  CHECK(events("RENAME k j") == head + "new\" \"j\"]");
  h.Advance(100);
  h.ExpireDue();
  CHECK(h.Received(*listener) == head + "expired\" \"j\"]");
}

TEST_CASE("pubsub: CLIENT REPLY keeps back replies, but no messages") {
  CommandHarness h;
  Client* listener = h.Connect();
  CHECK(h.Run(*listener, "CLIENT REPLY OFF").empty());
  CHECK(h.Run(*listener, "SUBSCRIBE a") == "[\"subscribe\" \"a\" :1]");
  CHECK(h.Run(*listener, "PING").empty());
  h.Run("PUBLISH a x");
  CHECK(h.Received(*listener) == "[\"message\" \"a\" \"x\"]");
  CHECK(h.Run(*listener, "UNSUBSCRIBE") == "[\"unsubscribe\" \"a\" :0]");
  CHECK(h.Run(*listener, "CLIENT REPLY ON") == "+OK");
  CHECK(h.Run(*listener, "CLIENT REPLY SKIP").empty());
  CHECK(h.Run(*listener, "PSUBSCRIBE b*") == "[\"psubscribe\" \"b*\" :1]");
  CHECK(h.Run(*listener, "PUNSUBSCRIBE b*") == "[\"punsubscribe\" \"b*\" :0]");
  CHECK(h.Run(*listener, "PING") == "+PONG");
}

}  // namespace tally::server::pubsub_commands_test
