#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::connection_commands_test {
namespace {

constexpr char kHello3[] =
    "{\"server\" \"redis\" \"version\" \"7.0.15\" \"proto\" :3 \"id\" :1 \"mode\" \"standalone\" "
    "\"role\" \"master\" \"modules\" []}";

Config WithPassword() {
  Config config;
  config.requirepass = "secret";
  return config;
}

}  // namespace

TEST_CASE("hello: describes the server and changes the protocol") {
  CommandHarness h;
  CHECK(h.Run("HELLO") ==
        "[\"server\" \"redis\" \"version\" \"7.0.15\" \"proto\" :2 \"id\" :1 \"mode\" "
        "\"standalone\" \"role\" \"master\" \"modules\" []]");
  CHECK(h.Run("hello 3 setname bob") == kHello3);
  CHECK(h.Run("CLIENT GETNAME") == "\"bob\"");
  CHECK(h.Run("HELLO") == kHello3);
  CHECK(h.Run("GET none") == "nil");
  CHECK(h.self->reply.protocol() == 3);
}

TEST_CASE("hello: refuses what it does not know and then changes nothing") {
  CommandHarness h;
  CHECK(h.Run("HELLO 4") == "-NOPROTO unsupported protocol version");
  CHECK(h.Run("HELLO x") == "-ERR Protocol version is not an integer or out of range");
  CHECK(h.Run("HELLO 3 AUTH default") == "-ERR Syntax error in HELLO option 'AUTH'");
  CHECK(h.Run("HELLO 3 SETNAME") == "-ERR Syntax error in HELLO option 'SETNAME'");
  CHECK(h.Run("HELLO 3 foo") == "-ERR Syntax error in HELLO option 'foo'");
  CHECK(h.Run({"HELLO", "3", "SETNAME", "a b"}) ==
        "-ERR Client names cannot contain spaces, newlines or special characters.");
  CHECK(h.Run("HELLO 3 AUTH u x") ==
        "-WRONGPASS invalid username-password pair or user is disabled.");
  CHECK(h.self->reply.protocol() == 2);
  CHECK(h.self->name.empty());
}

TEST_CASE("auth: without a password everybody is the default user") {
  CommandHarness h;
  CHECK(h.Run("AUTH x") ==
        "-ERR AUTH <password> called without any password configured for the default user. Are "
        "you sure your configuration is correct?");
  CHECK(h.Run("AUTH default x") == "+OK");
  CHECK(h.Run("AUTH other x") == "-WRONGPASS invalid username-password pair or user is disabled.");
  CHECK(h.Run("AUTH a b c") == "-ERR syntax error");
  CHECK(h.Run("AUTH") == "-ERR wrong number of arguments for 'auth' command");
}

TEST_CASE("auth: with a password nothing else goes before it") {
  CommandHarness h(WithPassword());
  CHECK(h.Run("PING") == "-NOAUTH Authentication required.");
  CHECK(h.Run("HELLO 3").rfind("-NOAUTH HELLO must be called with the client already", 0) == 0);
  CHECK(h.self->reply.protocol() == 2);
  const std::string wrong = "-WRONGPASS invalid username-password pair or user is disabled.";
  CHECK(h.Run("AUTH secre") == wrong);
  CHECK(h.Run("AUTH secrets") == wrong);
  CHECK(h.Run({"AUTH", ""}) == wrong);
  CHECK(h.Run("HELLO 3 AUTH default x") == wrong);
  CHECK(h.Run("GET a") == "-NOAUTH Authentication required.");
  CHECK(h.Run("HELLO 3 AUTH default secret") == kHello3);
  CHECK(h.Run("PING") == "+PONG");

  Client& other = *h.Connect();
  CHECK(h.Run(other, "AUTH secret") == "+OK");
  CHECK(h.Run(other, "GET a") == "nil");
  CHECK(h.Run(other, "AUTH wrong") == wrong);
  CHECK(h.Run(other, "GET a") == "nil");
  CHECK(h.Run(other, "RESET") == "+RESET");
  CHECK(h.Run(other, "GET a") == "-NOAUTH Authentication required.");
  CHECK(h.Run(other, "QUIT") == "+OK");
}

TEST_CASE("ping and echo") {
  CommandHarness h;
  CHECK(h.Run("PING") == "+PONG");
  CHECK(h.Run({"PING", "a\r\nb"}) == "\"a\\r\\nb\"");
  CHECK(h.Run("PING a b") == "-ERR wrong number of arguments for 'ping' command");
  CHECK(h.Run("ECHO a") == "\"a\"");
  CHECK(h.Run("ECHO") == "-ERR wrong number of arguments for 'echo' command");
}

TEST_CASE("ping: a subscriber in RESP2 gets a message, in RESP3 a reply") {
  CommandHarness h;
  h.state.pubsub.Subscribe(*h.self, "news");
  CHECK(h.Run("PING") == "[\"pong\" \"\"]");
  CHECK(h.Run("PING a") == "[\"pong\" \"a\"]");
  CHECK(h.Run("ECHO a") ==
        "-ERR Can't execute 'echo': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET "
        "are allowed in this context");
  h.self->reply.set_protocol(3);
  CHECK(h.Run("PING") == "+PONG");
  CHECK(h.Run("ECHO a") == "\"a\"");
}

TEST_CASE("select: chooses the database of the commands after it") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("SELECT 15") == "+OK");
  CHECK(h.Run("GET a") == "nil");
  CHECK(h.Run("SET a 2") == "+OK");
  CHECK(h.Effects() == std::vector<std::string>{"SET a 1", "SELECT 15", "SET a 2"});
  CHECK(h.Run("SELECT 16") == "-ERR DB index is out of range");
  CHECK(h.Run("SELECT -1") == "-ERR DB index is out of range");
  CHECK(h.Run("SELECT x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("SELECT 2147483648") ==
        "-ERR value is out of range, value must between -2147483648 and 2147483647");
  CHECK(h.Run("GET a") == "\"2\"");
}

TEST_CASE("reset: gives a client back the state that it began with") {
  CommandHarness h;
  h.Run("HELLO 3 SETNAME bob");
  h.Run("SELECT 3");
  h.Run("CLIENT NO-EVICT ON");
  h.state.pubsub.Subscribe(*h.self, "news");
  h.state.watches.Watch(*h.self, 0, "a", false);
  h.self->transaction.active = true;
  CHECK(h.Run("RESET") == "+RESET");
  CHECK(h.self->reply.protocol() == 2);
  CHECK(h.self->database == 0);
  CHECK(h.self->name.empty());
  CHECK_FALSE(h.self->no_evict);
  CHECK_FALSE(h.self->transaction.active);
  CHECK(h.state.pubsub.idle());
  CHECK(h.state.watches.empty());
}

TEST_CASE("reset: ends MONITOR") {
  CommandHarness h;
  h.state.clients.SetMonitor(*h.self, true);
  h.Run("RESET");
  CHECK_FALSE(h.self->monitor);
  CHECK(h.state.clients.monitors().empty());
}

TEST_CASE("quit: closes after its reply") {
  CommandHarness h;
  CHECK(h.Run("QUIT") == "+OK");
  CHECK(h.self->finished());
}

TEST_CASE("an unknown command that looks like one of a family is told where those are listed") {
  CommandHarness h;
  CHECK(h.Run("LIMIT.GET a") ==
        "-ERR unknown command 'LIMIT.GET', with args beginning with: 'a' (try LIMIT HELP)");
  CHECK(h.Run("quota.get") ==
        "-ERR unknown command 'quota.get', with args beginning with: (try QUOTA HELP)");
  for (const char* family : {"HITS", "LIMIT", "POLICY", "ACTIVE", "QUOTA", "HOTKEYS"}) {
    INFO(family);
    for (const char* rest : {".", ".SHOWN", ".SHOW.ME", ". x"}) {
      const std::string error = h.Run(StrCat(family, rest));
      CHECK(error.starts_with(StrCat("-ERR unknown command '", family, ".")));
      CHECK(error.ends_with(StrCat(" (try ", family, " HELP)")));
    }
    CHECK(h.Run(StrCat(family, " HELP")).starts_with("["));
  }
  for (const char* other : {"LIMITS.X", "LIMITX", ".LIMIT", "GET.X", "CL.FOO", "."}) {
    INFO(other);
    CHECK(h.Run(other) == StrCat("-ERR unknown command '", other, "', with args beginning with: "));
  }
  h.Run("MULTI");
  h.Run("LIMIT.GET a");
  CHECK(h.Run("EXEC").starts_with("-EXECABORT"));
}

TEST_CASE("HOTKEYS alone shows what it has") {
  CommandHarness h;
  CHECK(h.Run("HOTKEYS") ==
        "-ERR wrong number of arguments for 'hotkeys' command. "
        "Usage: HOTKEYS <GET | HELP | RESET | START | STOP>");
  CHECK(h.Run("LIMIT") == "-ERR wrong number of arguments for 'limit' command. Usage: LIMIT HELP");
  CHECK(h.Run("CONFIG") == "-ERR wrong number of arguments for 'config' command");
}

TEST_CASE("an unknown command is told with its arguments") {
  CommandHarness h;
  CHECK(h.Run("foo") == "-ERR unknown command 'foo', with args beginning with: ");
  CHECK(h.Run("foo a b") == "-ERR unknown command 'foo', with args beginning with: 'a' 'b' ");
  CHECK(h.Run("CLIENT foo") == "-ERR unknown subcommand 'foo'. Try CLIENT HELP.");
  CHECK(h.Run("CLIENT " + std::string("f\0o", 3)) ==
        "-ERR unknown subcommand 'f'. Try CLIENT HELP.");
  CHECK(h.Run("CLIENT") == "-ERR wrong number of arguments for 'client' command");
}

}  // namespace tally::server::connection_commands_test
