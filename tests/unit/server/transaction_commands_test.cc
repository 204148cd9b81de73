#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "server/command_harness.h"

namespace tally::server::transaction_commands_test {
namespace {

using Lines = std::vector<std::string>;

constexpr char kAborted[] = "-EXECABORT Transaction discarded because of previous errors.";

}  // namespace

TEST_CASE("multi: what is queued runs at EXEC, errors and all") {
  CommandHarness h;
  CHECK(h.Run("MULTI") == "+OK");
  CHECK(h.Run("SET s x") == "+QUEUED");
  CHECK(h.Run("INCR s") == "+QUEUED");
  CHECK(h.Run("LPOP none 1") == "+QUEUED");
  CHECK(h.Run("RPUSH l 1 2") == "+QUEUED");
  CHECK(h.Effects() == Lines{});
  CHECK(h.Run("EXEC") == "[+OK -ERR value is not an integer or out of range nil[] :2]");
  CHECK(h.Effects() == Lines{"SET s x", "RPUSH l 1 2"});
  CHECK(h.Run("GET s") == "\"x\"");
  CHECK(h.Run("MULTI") == "+OK");
  CHECK(h.Run("EXEC") == "[]");
}

TEST_CASE("multi: a block that is too large for a batch of the log takes no more writes") {
  CommandHarness h;
  h.state.effects.set_most_block_bytes(100);
  const std::string large(100, 'x');
  h.Run("MULTI");
  h.Run({"SET", "a", large});
  h.Run("SET b 1");
  h.Run("STRLEN a");
  CHECK(h.Run("EXEC") ==
        "[+OK -OOM The effects of this transaction are too large for the log :100]");
  CHECK(h.Effects() == Lines{"SET a " + large});
  CHECK(h.Run("SET b 1") == "+OK");
  CHECK(h.Run({"EVAL", "redis.call('set', 'a', ARGV[1]) redis.call('set', 'b', 2)", "0", large})
            .starts_with("-OOM The effects of this script are too large for the log"));
  CHECK(h.Run("GET b") == "\"1\"");
}

TEST_CASE("multi: DISCARD forgets the queue and the watching") {
  CommandHarness h;
  Client* other = h.Connect();
  h.Run("WATCH k");
  h.Run("MULTI");
  h.Run("SET k 1");
  CHECK(h.Run("DISCARD") == "+OK");
  CHECK(h.Run(*other, "SET k 2") == "+OK");
  h.Run("MULTI");
  h.Run("GET k");
  CHECK(h.Run("EXEC") == "[\"2\"]");
}

TEST_CASE("multi: what is out of place") {
  CommandHarness h;
  CHECK(h.Run("EXEC") == "-ERR EXEC without MULTI");
  CHECK(h.Run("DISCARD") == "-ERR DISCARD without MULTI");
  CHECK(h.Run("EXEC now") ==
        "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' "
        "command");
  h.Run("MULTI");
  CHECK(h.Run("MULTI") == "-ERR MULTI calls can not be nested");
  CHECK(h.Run("WATCH k") == "-ERR WATCH inside MULTI is not allowed");
  CHECK(h.Run("EXEC") == "[]");
  h.Run("MULTI");
  CHECK(h.Run("BGREWRITEAOF") == "-ERR Command not allowed inside a transaction");
  CHECK(h.Run("EXEC") == kAborted);
}

// RESET and QUIT act on the transaction; commands of these names below another do not.
TEST_CASE("multi: subcommands are queued whatever their names") {
  CommandHarness h;
  CHECK(h.Run("MULTI") == "+OK");
  CHECK(h.Run("SLOWLOG RESET") == "+QUEUED");
  CHECK(h.Run("LATENCY RESET") == "+QUEUED");
  CHECK(h.Run("EXEC") == "[+OK :0]");
}

TEST_CASE("multi: a command that cannot be queued aborts it") {
  CommandHarness h;
  for (const char* wrong : {"NOSUCH x", "SET k"}) {
    INFO(wrong);
    h.Run("MULTI");
    h.Run("SET k 1");
    CHECK(h.Run(wrong).starts_with("-ERR"));
    CHECK(h.Run("EXEC") == kAborted);
    CHECK(h.Run("EXISTS k") == ":0");
  }
  CHECK(h.Effects() == Lines{});
}

TEST_CASE("multi: when nothing can be logged any more, EXEC writes nothing") {
  CommandHarness h;
  h.Run("MULTI");
  h.Run("SET k 1");
  h.persistence.error = absl::InternalError("disk full");
  CHECK(h.Run("EXEC") ==
        "-EXECABORT Transaction discarded because of: MISCONF Errors writing to the AOF file: disk "
        "full");
  CHECK(h.Run("EXEC") == "-ERR EXEC without MULTI");
  h.Run("MULTI");
  h.Run("GET k");
  CHECK(h.Run("EXEC") == "[nil]");
}

TEST_CASE("multi: each effect is logged with its own database") {
  CommandHarness h;
  h.Run("MULTI");
  h.Run("SET a 1");
  h.Run("SELECT 3");
  h.Run("SET b 2");
  CHECK(h.Run("EXEC") == "[+OK +OK +OK]");
  CHECK(h.Effects() == Lines{"SET a 1", "SELECT 3", "SET b 2"});
}

TEST_CASE("watch: a change by anyone gives null") {
  CommandHarness h;
  Client* other = h.Connect();
  for (const char* change : {"SET k 1", "DEL k", "LPUSH k 1", "LTRIM k 0 -1", "RENAME k k2",
                             "SET k2 5", "RENAME k2 k", "PEXPIRE k 1000", "FLUSHALL"}) {
    INFO(change);
    h.Run("WATCH k");
    h.Run(*other, change);
    h.Run("MULTI");
    h.Run("PING");
    CHECK(h.Run("EXEC") == (std::string_view(change) == "SET k2 5" ? "[+PONG]" : "nil[]"));
  }
  h.Run("WATCH k");
  h.Run("SET k mine");
  h.Run("MULTI");
  CHECK(h.Wire(*h.self, {"EXEC"}) == "*-1\r\n");
}

TEST_CASE("watch: what changes nothing is no change") {
  CommandHarness h;
  Client* other = h.Connect();
  h.Run("SET k 1");
  h.Run("WATCH k none");
  for (const char* line : {"GET k", "DEL none", "LPOP none", "SET other 1", "SETNX k 2"}) {
    h.Run(*other, line);
  }
  h.Run(*other, "SELECT 1");
  h.Run(*other, "SET k 1");
  h.Run("MULTI");
  CHECK(h.Run("EXEC") == "[]");
}

TEST_CASE("watch: UNWATCH, EXEC and a disconnection end it") {
  CommandHarness h;
  Client* other = h.Connect();
  h.Run("WATCH k");
  h.Run(*other, "SET k 1");
  CHECK(h.Run("UNWATCH") == "+OK");
  h.Run("MULTI");
  CHECK(h.Run("EXEC") == "[]");
  h.Run(*other, "SET k 2");
  h.Run("MULTI");
  CHECK(h.Run("EXEC") == "[]");
  h.Run(*other, "WATCH k");
  CHECK_FALSE(h.state.watches.empty());
  h.Disconnect(other);
  CHECK(h.state.watches.empty());
}

TEST_CASE("watch: a key that expires has changed, unless it was dead already") {
  CommandHarness h;
  h.state.services.active_expire = false;
  h.Run("SET k 1 PX 100");
  h.Run("WATCH k");
  h.Advance(200);
  h.Run("MULTI");
  CHECK(h.Run("EXEC") == "nil[]");
  h.Run("WATCH k");
  h.Run("MULTI");
  CHECK(h.Run("EXEC") == "[]");
  h.Run("WATCH k");
  h.ExpireDue();
  h.Run("MULTI");
  CHECK(h.Run("EXEC") == "[]");
  h.Run("SET k 1 PX 100");
  h.Run("WATCH k");
  h.Advance(200);
  h.ExpireDue();
  h.Run("MULTI");
  CHECK(h.Run("EXEC") == "nil[]");
  // Dead, then gone, then born again.
  h.Run("SET k 1 PX 100");
  h.Advance(200);
  h.Run("WATCH k");
  h.ExpireDue();
  h.Run(*h.Connect(), "SET k 2");
  h.Run("MULTI");
  CHECK(h.Run("EXEC") == "nil[]");
}

TEST_CASE("multi: CLIENT PAUSE WRITE holds back only an EXEC that writes") {
  CommandHarness h;
  h.Run("MULTI");
  h.Run("GET k");
  Client* writer = h.Connect();
  h.Run(*writer, "MULTI");
  h.Run(*writer, "SET k 1");
  h.Run(*h.Connect(), "CLIENT PAUSE 1000 WRITE");
  CHECK(h.Run("EXEC") == "[nil]");
  CHECK(h.Run(*writer, "EXEC") == "postponed");
  h.Advance(1001);
  CHECK(h.Run(*writer, "EXEC") == "[+OK]");
}

}  // namespace tally::server::transaction_commands_test
