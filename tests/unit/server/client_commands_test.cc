#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::client_commands_test {
namespace {

// A wire that only remembers that it was closed.
class FakeTransport : public Transport {
 public:
  bool FlushOutput(size_t) override { return false; }
  void Close() override { closed = true; }
  bool closed = false;
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t Lines(const std::string& shown) {
  size_t lines = 0;
  for (size_t at = shown.find("\\n"); at != std::string::npos; at = shown.find("\\n", at + 1)) {
    ++lines;
  }
  return lines;
}

}  // namespace

TEST_CASE("client: names") {
  CommandHarness h;
  const std::string bad =
      "-ERR Client names cannot contain spaces, newlines or special characters.";
  CHECK(h.Run("CLIENT GETNAME") == "nil");
  CHECK(h.Run({"CLIENT", "SETNAME", "a b"}) == bad);
  CHECK(h.Run({"CLIENT", "SETNAME", "a\nb"}) == bad);
  CHECK(h.Run({"CLIENT", "SETNAME", "\x7f"}) == bad);
  CHECK(h.Run("CLIENT SETNAME abc") == "+OK");
  CHECK(h.Run("CLIENT GETNAME") == "\"abc\"");
  CHECK(h.Run({"CLIENT", "SETNAME", ""}) == "+OK");
  CHECK(h.Run("CLIENT GETNAME") == "nil");
  CHECK(h.Run("CLIENT SETNAME") == "-ERR wrong number of arguments for 'client|setname' command");
}

TEST_CASE("client: what libraries tell of themselves") {
  CommandHarness h;
  CHECK(h.Run("CLIENT SETINFO LIB-NAME redis-py") == "+OK");
  CHECK(h.Run("CLIENT SETINFO lib-ver 5.0") == "+OK");
  CHECK(h.Run("CLIENT SETINFO foo x") == "-ERR Unrecognized option 'foo'");
  CHECK(h.Run({"CLIENT", "SETINFO", "lib-name", "a b"}) ==
        "-ERR lib-name cannot contain spaces, newlines or special characters.");
  CHECK(Has(h.Run("CLIENT INFO"), " lib-name=redis-py lib-ver=5.0\\n"));
}

TEST_CASE("client: its line") {
  CommandHarness h;
  h.Advance(2500);
  h.self->last_active_ms = h.state.clock.elapsed_ms() - 1000;
  h.Run("SELECT 3");
  CHECK(h.Run("CLIENT INFO")
            .rfind(
                "\"id=1 addr=127.0.0.1:50001 laddr=127.0.0.1:6379 fd=-1 name= age=2 idle=0 flags=N "
                "db=3 sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 ",
                0) == 0);
  CHECK(Has(h.Run("CLIENT INFO"), " cmd=client|info user=default redir=-1 resp=2 "));
  h.self->reply.set_protocol(3);
  CHECK(h.Run("CLIENT INFO").rfind("txt:\"id=1 ", 0) == 0);

  h.Run("CLIENT NO-EVICT ON");
  h.Run("CLIENT NO-TOUCH ON");
  h.state.pubsub.SubscribePattern(*h.self, "n*");
  h.state.clients.SetMonitor(*h.self, true);
  CHECK(Has(h.Run("CLIENT INFO"), " flags=OPeT db=3 sub=0 psub=1 "));
}

TEST_CASE("monitor: of a long argument the beginning is shown") {
  CommandHarness h;
  Client& monitor = *h.Connect();
  h.state.clients.SetMonitor(monitor, true);
  const std::string most(1 << 20, 'v');
  h.Run(CommandHarness::Words{"SET", "key", most});
  CHECK(Has(monitor.output.Joined(), StrCat("\"SET\" \"key\" \"", most, "\"\r\n")));
  monitor.output.Clear();
  h.Run(CommandHarness::Words{"SET", most + "vvv", "value"});
  CHECK(Has(monitor.output.Joined(),
            StrCat("\"SET\" \"", most, "\"... (3 more bytes) \"value\"\r\n")));
}

TEST_CASE("client: lists") {
  CommandHarness h;
  Client& second = *h.Connect();
  Client& third = *h.Connect();
  h.state.pubsub.Subscribe(third, "news");
  CHECK(Lines(h.Run("CLIENT LIST")) == 3);
  CHECK(h.Run("CLIENT LIST TYPE pubsub").rfind("\"id=3 ", 0) == 0);
  CHECK(Lines(h.Run("CLIENT LIST TYPE normal")) == 2);
  CHECK(h.Run("CLIENT LIST TYPE replica") == "\"\"");
  CHECK(h.Run("CLIENT LIST TYPE master") == "\"\"");
  CHECK(h.Run("CLIENT LIST TYPE foo") == "-ERR Unknown client type 'foo'");
  const std::string by_id = h.Run("CLIENT LIST ID 3 9 2");
  CHECK(Lines(by_id) == 2);
  CHECK(by_id.find("id=3 ") < by_id.find("id=2 "));
  CHECK(h.Run("CLIENT LIST ID x") == "-ERR Invalid client ID");
  CHECK(h.Run("CLIENT LIST ID") == "-ERR syntax error");
  CHECK(h.Run("CLIENT LIST TYPE") == "-ERR syntax error");
  CHECK(h.Run("CLIENT LIST foo") == "-ERR syntax error");
  h.Disconnect(&second);
  CHECK(Lines(h.Run("CLIENT LIST")) == 2);
}

TEST_CASE("client: kill by address, the old form") {
  CommandHarness h;
  FakeTransport wire;
  Client& other = *h.Connect();
  other.transport = &wire;
  CHECK(h.Run("CLIENT KILL 1.2.3.4:5") == "-ERR No such client");
  CHECK(h.Run({"CLIENT", "KILL", other.address}) == "+OK");
  CHECK(wire.closed);
  CHECK(other.finished());
  CHECK_FALSE(h.self->finished());
  CHECK(h.Run({"CLIENT", "KILL", h.self->address}) == "+OK");
  CHECK(h.self->finished());
}

TEST_CASE("client: kill by filters, all of which have to fit") {
  CommandHarness h;
  Client& second = *h.Connect();
  Client& third = *h.Connect();
  h.state.pubsub.Subscribe(third, "news");
  CHECK(h.Run("CLIENT KILL ID 1") == ":0");  // oneself is left out
  CHECK(h.Run("CLIENT KILL ID 2 TYPE pubsub") == ":0");
  CHECK(h.Run({"CLIENT", "KILL", "ADDR", second.address, "ID", "2", "USER", "default"}) == ":1");
  CHECK(second.finished());
  CHECK(h.Run("CLIENT KILL ID 2") == ":0");  // it is gone already
  CHECK(h.Run("CLIENT KILL TYPE pubsub LADDR 127.0.0.1:6379") == ":1");
  CHECK(third.finished());
  CHECK(h.Run("CLIENT KILL LADDR 127.0.0.1:1 SKIPME no") == ":0");
  CHECK(h.Run("CLIENT KILL SKIPME no TYPE normal") == ":1");
  CHECK(h.self->finished());
}

TEST_CASE("client: kill refuses filters that it does not know, and kills nobody") {
  CommandHarness h;
  Client& other = *h.Connect();
  CHECK(h.Run("CLIENT KILL ID 0") == "-ERR client-id should be greater than 0");
  CHECK(h.Run("CLIENT KILL ID x") == "-ERR client-id should be greater than 0");
  CHECK(h.Run("CLIENT KILL TYPE foo") == "-ERR Unknown client type 'foo'");
  CHECK(h.Run("CLIENT KILL USER nobody") == "-ERR No such user 'nobody'");
  CHECK(h.Run("CLIENT KILL SKIPME x") == "-ERR syntax error");
  CHECK(h.Run("CLIENT KILL ID 2 foo") == "-ERR syntax error");
  CHECK(h.Run("CLIENT KILL a b") == "-ERR syntax error");
  CHECK(h.Run("CLIENT KILL") == "-ERR wrong number of arguments for 'client|kill' command");
  CHECK_FALSE(other.finished());
}

TEST_CASE("client: pause makes commands wait until its end or UNPAUSE") {
  CommandHarness h;
  CHECK(h.Run("CLIENT PAUSE 100") == "+OK");
  CHECK(h.Run("GET a") == "postponed");
  CHECK(h.self->state.command.postponed());
  h.Advance(99);
  CHECK(h.Run("GET a") == "postponed");
  h.Advance(1);
  CHECK(h.Run("GET a") == "nil");
  CHECK_FALSE(h.self->state.command.postponed());

  CHECK(h.Run("CLIENT PAUSE 100 WRITE") == "+OK");
  CHECK(h.Run("GET a") == "nil");
  CHECK(h.Run("SET a 1") == "postponed");
  CHECK(h.Run("CLIENT UNPAUSE") == "+OK");
  CHECK(h.Run("GET a") == "nil");
  CHECK(h.Run("SET a 1") == "+OK");

  CHECK(h.Run("CLIENT PAUSE x") == "-ERR timeout is not an integer or out of range");
  CHECK(h.Run("CLIENT PAUSE -1") == "-ERR timeout is negative");
  CHECK(h.Run("CLIENT PAUSE 9223372036854775807") == "-ERR timeout is out of range");
  CHECK(h.Run("CLIENT PAUSE 10 foo") == "-ERR CLIENT PAUSE mode must be WRITE or ALL");
  CHECK(h.Run("GET a") == "\"1\"");
}

TEST_CASE("client: reply modes") {
  CommandHarness h;
  CHECK(h.Run("CLIENT REPLY SKIP").empty());
  CHECK(h.Run("PING").empty());
  CHECK(h.Run("PING") == "+PONG");
  CHECK(h.Run("CLIENT REPLY OFF").empty());
  CHECK(h.Run("PING").empty());
  CHECK(h.Run("CLIENT REPLY SKIP").empty());
  CHECK(h.Run("PING").empty());
  CHECK(h.Run("PING").empty());
  CHECK(h.Run("CLIENT REPLY ON") == "+OK");
  CHECK(h.Run("CLIENT REPLY foo") == "-ERR syntax error");
  CHECK(h.Run("PING") == "+PONG");
}

TEST_CASE("client: switches") {
  CommandHarness h;
  CHECK(h.Run("CLIENT NO-EVICT on") == "+OK");
  CHECK(h.self->no_evict);
  CHECK(h.Run("CLIENT NO-EVICT OFF") == "+OK");
  CHECK_FALSE(h.self->no_evict);
  CHECK(h.Run("CLIENT NO-EVICT x") == "-ERR syntax error");
  CHECK(h.Run("CLIENT NO-TOUCH x") == "-ERR syntax error");
  CHECK(h.Run("CLIENT ID") == ":1");
  CHECK(h.Run("CLIENT HELP")
            .rfind("[+CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are: +CACHING",
                   0) == 0);
}

}  // namespace tally::server::client_commands_test
