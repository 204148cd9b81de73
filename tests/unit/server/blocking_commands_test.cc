// BLPOP and the other commands that wait: who is served, when, with what, and what is logged.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/command/command_context.h"
#include "server/command_harness.h"

namespace tally::server::blocking_commands_test {
namespace {

using Lines = std::vector<std::string>;

// A client that waits with the command.
Client* Waiting(CommandHarness& h, const std::string& command) {
  Client* client = h.Connect();
  REQUIRE(h.Run(*client, command).empty());
  REQUIRE(client->blocked != nullptr);
  return client;
}

std::string Got(CommandHarness& h, Client* client) { return h.Received(*client); }

}  // namespace

TEST_CASE("blocking: a value that is there is taken at once") {
  CommandHarness h;
  h.Run("RPUSH l a b c d e f");
  h.Run("ZADD z 1 a 2 b 3 c 4 d 5 e");
  h.Effects();
  CHECK(h.Run("BLPOP none l 0") == "[\"l\" \"a\"]");
  CHECK(h.Run("BRPOP none l 0") == "[\"l\" \"f\"]");
  CHECK(h.Run("BLMOVE l m LEFT RIGHT 0") == "\"b\"");
  CHECK(h.Run("BRPOPLPUSH l m 0") == "\"e\"");
  CHECK(h.Run("BLMPOP 0 2 none l LEFT COUNT 9") == "[\"l\" [\"c\" \"d\"]]");
  CHECK(h.Run("BZPOPMIN none z 0") == "[\"z\" \"a\" \"1\"]");
  CHECK(h.Run("BZPOPMAX none z 0") == "[\"z\" \"e\" \"5\"]");
  CHECK(h.Run("BZMPOP 0 2 none z MIN COUNT 2") == "[\"z\" [[\"b\" \"2\"] [\"c\" \"3\"]]]");
  CHECK(h.Effects() == Lines{"LPOP l", "RPOP l", "LMOVE l m LEFT RIGHT", "RPOPLPUSH l m",
                             "LPOP l 2", "ZPOPMIN z", "ZPOPMAX z", "ZPOPMIN z 2"});
}

TEST_CASE("blocking: a push serves who waits, and is logged as what happened") {
  CommandHarness h;
  const auto wait = [&](const std::string& command, const std::string& push) {
    Client* client = Waiting(h, command);
    h.Effects();
    h.Run(push);
    REQUIRE(client->blocked == nullptr);
    std::string result = Got(h, client);
    for (const std::string& line : h.Effects()) StrAppend(result, ", ", line);
    h.Run("FLUSHALL");
    return result;
  };
  CHECK(wait("BLPOP k l 0", "RPUSH l a b") == "[\"l\" \"a\"], RPUSH l a b, LPOP l");
  CHECK(wait("BRPOP k l 0", "RPUSH l a b") == "[\"l\" \"b\"], RPUSH l a b, RPOP l");
  CHECK(wait("BLMOVE l m LEFT RIGHT 0", "RPUSH l a b") ==
        "\"a\", RPUSH l a b, LMOVE l m LEFT RIGHT");
  CHECK(wait("BRPOPLPUSH l l 0", "RPUSH l a b") == "\"b\", RPUSH l a b, RPOPLPUSH l l");
  CHECK(wait("BLMPOP 0 2 k l RIGHT COUNT 9", "RPUSH l a b") ==
        "[\"l\" [\"b\" \"a\"]], RPUSH l a b, RPOP l 2");
  CHECK(wait("BZPOPMIN k l 0", "ZADD l 1 a 2 b") ==
        "[\"l\" \"a\" \"1\"], ZADD l 1 a 2 b, ZPOPMIN l");
  CHECK(wait("BZPOPMAX k l 0", "ZADD l 1 a 2 b") ==
        "[\"l\" \"b\" \"2\"], ZADD l 1 a 2 b, ZPOPMAX l");
  CHECK(wait("BZMPOP 0 2 k l MAX COUNT 9", "ZADD l 1 a") ==
        "[\"l\" [[\"a\" \"1\"]]], ZADD l 1 a, ZPOPMAX l 1");
}

TEST_CASE("blocking: every way in which a list or a sorted set appears") {
  CommandHarness h;
  const auto wait = [&](const std::string& command, const Lines& changes) {
    Client* client = Waiting(h, command);
    for (const std::string& change : changes) h.Run(change);
    std::string result = Got(h, client);
    h.state.blocked.Take(*client);
    h.Run("FLUSHALL");
    h.Run("SELECT 0");
    return result;
  };
  const std::string a = "[\"k\" \"a\"]";
  CHECK(wait("BLPOP k 0", {"RPUSH other a", "RENAME other k"}) == a);
  CHECK(wait("BLPOP k 0", {"RPUSH other a", "RENAMENX other k"}) == a);
  CHECK(wait("BLPOP k 0", {"SET k 1", "RPUSH other a", "RENAME other k"}) == a);
  CHECK(wait("BLPOP k 0", {"RPUSH other a", "COPY other k"}) == a);
  CHECK(wait("BLPOP k 0", {"SET k 1", "RPUSH other a", "COPY other k REPLACE"}) == a);
  CHECK(wait("BLPOP k 0", {"RPUSH other a", "SORT other ALPHA STORE k"}) == a);
  CHECK(wait("BLPOP k 0", {"RPUSH other a", "LMOVE other k LEFT LEFT"}) == a);
  CHECK(wait("BLPOP k 0", {"SELECT 1", "RPUSH k a"}).empty());
  CHECK(wait("BLPOP k 0", {"SELECT 1", "RPUSH k a", "MOVE k 0"}) == a);
  CHECK(wait("BLPOP k 0", {"SELECT 1", "RPUSH k a", "COPY k k DB 0"}) == a);
  CHECK(wait("BLPOP k 0", {"SELECT 1", "RPUSH k a", "SWAPDB 0 1"}) == a);
  CHECK(wait("BLPOP k 0", {"SELECT 1", "RPUSH k a", "SWAPDB 1 2"}).empty());
  const std::string m = "[\"k\" \"m\" \"1\"]";
  CHECK(wait("BZPOPMIN k 0", {"ZADD other 1 m", "ZUNIONSTORE k 1 other"}) == m);
  CHECK(wait("BZPOPMIN k 0", {"ZADD other 1 m", "ZRANGESTORE k other 0 -1"}) == m);
  CHECK(wait("BZPOPMIN k 0", {"ZINCRBY k 1 m"}) == m);
  // As in Redis, a value that replaces another one wakes nobody.
  CHECK(wait("BLPOP k 0", {"SET k 1", "RPUSH other a", "SORT other ALPHA STORE k"}).empty());
  // Another type is not waited for.
  CHECK(wait("BLPOP k 0", {"ZADD k 1 m", "SADD s a"}).empty());
  CHECK(wait("BLPOP k 0", {"ZADD k 1 m", "DEL k", "RPUSH k a"}) == a);
  CHECK(wait("BZPOPMIN k 0", {"RPUSH k a", "LPOP k", "ZADD k 1 m"}) == m);
}

TEST_CASE("blocking: who waits longest is served first, each by one element") {
  CommandHarness h;
  Client* first = Waiting(h, "BLPOP k 0");
  Client* second = Waiting(h, "BRPOP other k 0");
  Client* third = Waiting(h, "BLPOP k 0");
  h.Run("RPUSH k a b");
  CHECK(Got(h, first) == "[\"k\" \"a\"]");
  CHECK(Got(h, second) == "[\"k\" \"b\"]");
  CHECK(Got(h, third).empty());
  CHECK(h.Run("EXISTS k") == ":0");
  // Who waits again waits behind the others.
  CHECK(h.Run(*first, "BLPOP k 0").empty());
  h.Run("RPUSH k c");
  CHECK(Got(h, third) == "[\"k\" \"c\"]");
  CHECK(h.state.blocked.clients() == 1);
  h.Run("RPUSH k d e");
  CHECK(Got(h, first) == "[\"k\" \"d\"]");
  CHECK(h.Run("LRANGE k 0 -1") == "[\"e\"]");
  CHECK(h.state.blocked.empty());
}

TEST_CASE("blocking: the key that was filled first serves") {
  CommandHarness h;
  const auto after = [&](const Lines& changes) {
    Client* client = Waiting(h, "BLPOP k1 k2 k1 0");
    h.Run("MULTI");
    for (const std::string& change : changes) h.Run(change);
    h.Run("EXEC");
    std::string result = Got(h, client);
    h.state.blocked.Take(*client);
    h.Run("FLUSHALL");
    return result;
  };
  CHECK(after({"RPUSH k2 b", "RPUSH k1 a"}) == "[\"k2\" \"b\"]");
  CHECK(after({"SET k1 x", "RPUSH k2 b", "DEL k1", "RPUSH k1 a"}) == "[\"k2\" \"b\"]");
  CHECK(after({"RPUSH k2 b", "DEL k2", "RPUSH k1 a"}) == "[\"k1\" \"a\"]");
  CHECK(after({"RPUSH k1 b", "DEL k1"}).empty());
  CHECK(after({"RPUSH k1 b", "DEL k1", "ZADD k1 1 m"}).empty());
  CHECK(after({"RPUSH k1 b", "PEXPIRE k1 0"}).empty());
}

TEST_CASE("blocking: whoever waits is served when a transaction or a script has ended") {
  CommandHarness h;
  Client* client = Waiting(h, "BLPOP k 0");
  h.Run("MULTI");
  h.Run("RPUSH k a b");
  h.Run("LRANGE k 0 -1");
  CHECK(h.Run("EXEC") == "[:2 [\"a\" \"b\"]]");
  CHECK(Got(h, client) == "[\"k\" \"a\"]");
  h.Run("DEL k");
  client = Waiting(h, "BLPOP k 0");
  CHECK(h.Run({"EVAL", "redis.call('RPUSH',KEYS[1],'c') return redis.call('LLEN',KEYS[1])", "1",
               "k"}) == ":1");
  CHECK(Got(h, client) == "[\"k\" \"c\"]");
}

TEST_CASE("blocking: one who is served may serve the next") {
  CommandHarness h;
  Client* last = Waiting(h, "BRPOP c 0");
  Client* middle = Waiting(h, "BLMOVE b c LEFT RIGHT 0");
  Client* first = Waiting(h, "BRPOPLPUSH a b 0");
  h.Effects();
  h.Run("RPUSH a x");
  CHECK(Got(h, first) == "\"x\"");
  CHECK(Got(h, middle) == "\"x\"");
  CHECK(Got(h, last) == "[\"c\" \"x\"]");
  CHECK(h.Effects() == Lines{"RPUSH a x", "RPOPLPUSH a b", "LMOVE b c LEFT RIGHT", "RPOP c"});
  CHECK(h.Run("DBSIZE") == ":0");
}

TEST_CASE("blocking: in transactions and scripts nobody waits") {
  CommandHarness h;
  for (const auto& [command, nothing] :
       std::vector<std::pair<std::string, std::string>>{{"BLPOP k 0", "*-1\r\n"},
                                                        {"BRPOP k 0", "*-1\r\n"},
                                                        {"BLMOVE k l LEFT LEFT 0", "$-1\r\n"},
                                                        {"BRPOPLPUSH k l 0", "$-1\r\n"},
                                                        {"BLMPOP 0 1 k LEFT", "*-1\r\n"},
                                                        {"BZPOPMIN k 0", "*-1\r\n"},
                                                        {"BZPOPMAX k 0", "*-1\r\n"},
                                                        {"BZMPOP 0 1 k MIN", "*-1\r\n"}}) {
    INFO(command);
    h.Run("MULTI");
    CHECK(h.Run(command) == "+QUEUED");
    CHECK(h.Wire(*h.self, {"EXEC"}) == "*1\r\n" + nothing);
  }
  CHECK(h.Run({"EVAL", "return redis.call('BLMPOP','0','1','k','LEFT')", "0"}) == "nil");
  CHECK(h.Run({"EVAL", "return redis.call('BZMPOP','0','1','k','MIN')", "0"}) == "nil");
  CHECK(h.Run({"EVAL", "return redis.call('BLPOP','k','0')", "0"})
            .starts_with("-ERR This Redis command is not allowed from script"));
  CHECK(h.state.blocked.empty());
}

TEST_CASE("blocking: malformed calls") {
  CommandHarness h;
  const std::string not_float = "-ERR timeout is not a float or out of range";
  const std::string range = "-ERR timeout is out of range";
  for (const char* word : {"nan", "abc", "1e5000", "1x", "1e-5000"}) {
    CHECK(h.Run({"BLPOP", "k", word}) == not_float);
  }
  for (const char* word : {"", " 1", "1 "}) CHECK(h.Run({"BLPOP", "k", word}) == not_float);
  CHECK(h.Run("BLPOP k -1") == "-ERR timeout is negative");
  CHECK(h.Run("BLPOP k -inf") == "-ERR timeout is negative");
  for (const char* word : {"inf", "1e20", "1e400", "9223372036854776"}) {
    CHECK(h.Run({"BLPOP", "k", word}) == range);
  }
  CHECK(h.Run("BLPOP k") == "-ERR wrong number of arguments for 'blpop' command");
  const std::string syntax = "-ERR syntax error";
  CHECK(h.Run("BLMPOP 0 0 k LEFT") == "-ERR numkeys should be greater than 0");
  CHECK(h.Run("BLMPOP 0 -1 k LEFT") == "-ERR numkeys should be greater than 0");
  CHECK(h.Run("BLMPOP x 2 k LEFT") == syntax);
  CHECK(h.Run("BLMPOP x 9223372036854775807 k LEFT") == syntax);
  CHECK(h.Run("BLMPOP x 1 k UP") == syntax);
  CHECK(h.Run("BLMPOP x 1 k LEFT COUNT") == syntax);
  CHECK(h.Run("BLMPOP x 1 k LEFT COUNT 1 COUNT 1") == syntax);
  CHECK(h.Run("BLMPOP x 1 k LEFT COUNT 0") == "-ERR count should be greater than 0");
  CHECK(h.Run("BLMPOP x 1 k LEFT COUNT 1") == not_float);
  CHECK(h.Run("BZMPOP 0 0 k MIN") == "-ERR numkeys should be greater than 0");
  CHECK(h.Run("BZMPOP 0 3 k MIN") == syntax);
  CHECK(h.Run("BZMPOP 0 1 k LEFT") == syntax);
  CHECK(h.Run("BZMPOP 0 1 k MIN COUNT -1") == "-ERR count should be greater than 0");
  CHECK(h.Run("BLMOVE a b UP LEFT x") == syntax);
  CHECK(h.Run("BLMOVE a b LEFT LEFT x") == not_float);
  h.Run("SET s 1");
  for (const char* command : {"BLPOP none s 0", "BLMOVE s b LEFT LEFT 0", "BRPOPLPUSH s b 0",
                              "BLMPOP 0 1 s LEFT", "BZPOPMIN s 0", "BZMPOP 0 1 s MIN"}) {
    CHECK(h.Run(command) == StrCat("-", kWrongTypeError));
  }
  CHECK(h.state.blocked.empty());
}

TEST_CASE("blocking: a destination of another type is an error, and the next one is served") {
  CommandHarness h;
  Client* first = Waiting(h, "BLMOVE k d LEFT LEFT 0");
  Client* second = Waiting(h, "BLPOP k 0");
  h.Run("SET d 1");
  h.Run("RPUSH k a");
  CHECK(Got(h, first) == StrCat("-", kWrongTypeError));
  CHECK(Got(h, second) == "[\"k\" \"a\"]");
}

TEST_CASE("blocking: timeouts") {
  CommandHarness h;
  h.state.clock.SetSteady(1000);
  const auto deadline = [&](const std::string& seconds) {
    Client* client = Waiting(h, "BLPOP k " + seconds);
    const int64_t found = client->blocked->deadline_ms;
    h.state.blocked.Take(*client);
    return found;
  };
  CHECK(deadline("0") == INT64_MAX);
  CHECK(deadline("-0") == INT64_MAX);
  CHECK(deadline("-0.0001") == INT64_MAX);
  CHECK(deadline("0.0001") == 1001);
  CHECK(deadline("0x0.8") == 1500);
  CHECK(deadline("1.0001") == 2001);
  CHECK(deadline("9223372036854775") == INT64_MAX);
  CHECK(h.state.blocked.with_deadline() == 0);
  Client* later = Waiting(h, "BLMOVE k l LEFT LEFT 2");
  Client* sooner = h.Connect();
  h.Run(*sooner, "HELLO 3");
  h.Run(*sooner, "BLPOP k 1");
  Waiting(h, "BLPOP k 0");
  CHECK(h.state.blocked.with_deadline() == 2);
  CHECK(h.state.blocked.next_deadline_ms() == 2000);
  CHECK(h.state.blocked.FirstDue(1999) == nullptr);
  REQUIRE(h.state.blocked.FirstDue(2000) == sooner);
  h.dispatcher.TimeOut(*sooner);
  CHECK(Taken(sooner->output) == "_\r\n");
  CHECK(h.state.blocked.FirstDue(2999) == nullptr);
  REQUIRE(h.state.blocked.FirstDue(3000) == later);
  h.dispatcher.TimeOut(*later);
  CHECK(Taken(later->output) == "*-1\r\n");
  CHECK(h.state.blocked.FirstDue(INT64_MAX) == nullptr);
  CHECK(h.state.blocked.clients() == 1);
}

TEST_CASE("blocking: CLIENT UNBLOCK") {
  CommandHarness h;
  Client* client = Waiting(h, "BLPOP k 0");
  const std::string unblock = StrCat("CLIENT UNBLOCK ", client->id);
  CHECK(h.Run(unblock + " NEVER") == "-ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
  CHECK(h.Run(unblock) == ":1");
  CHECK(Got(h, client) == "nil[]");
  CHECK(h.Run(unblock) == ":0");
  h.Run(*client, "BLPOP k 0");
  CHECK(h.Run(unblock + " timeout") == ":1");
  CHECK(Got(h, client) == "nil[]");
  h.Run(*client, "BLPOP k 0");
  CHECK(h.Run(unblock + " ERROR") == ":1");
  CHECK(Got(h, client) == "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
  CHECK(h.Run("CLIENT UNBLOCK 999") == ":0");
  CHECK(h.Run("CLIENT UNBLOCK -1") == ":0");
  CHECK(h.Run("CLIENT UNBLOCK x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run(StrCat("CLIENT UNBLOCK ", h.self->id)) == ":0");
  h.Run("RPUSH k a");
  CHECK(h.Run("LLEN k") == ":1");
}

TEST_CASE("blocking: a client that is gone takes nothing") {
  CommandHarness h;
  Client* gone = Waiting(h, "BLPOP k 5");
  Client* killed = Waiting(h, "BLPOP k 5");
  Client* alive = Waiting(h, "BLPOP k 0");
  h.Disconnect(gone);
  CHECK(h.state.blocked.with_deadline() == 1);
  CHECK(h.Run(StrCat("CLIENT KILL ID ", killed->id)) == ":1");
  h.Run("RPUSH k a");
  CHECK(Got(h, alive) == "[\"k\" \"a\"]");
  CHECK(Got(h, killed).empty());
  CHECK(h.state.blocked.empty());
  CHECK(h.state.blocked.with_deadline() == 0);
}

TEST_CASE("blocking: rights that were lost meanwhile") {
  CommandHarness h;
  h.Run("ACL SETUSER bob on nopass ~* +@all");
  Client* bob = h.Connect();
  h.Run(*bob, "AUTH bob x");
  h.Run(*bob, "BLPOP k 0");
  h.Run("ACL SETUSER bob -blpop");
  h.Run("RPUSH k a");
  CHECK(Got(h, bob).starts_with("-NOPERM"));
  CHECK(h.Run("LLEN k") == ":1");
}

TEST_CASE("blocking: what is counted and shown") {
  CommandHarness h;
  const auto calls = [&] {
    const std::string info = h.Run("INFO commandstats");
    const size_t begin = info.find("cmdstat_blpop:");
    if (begin == std::string::npos) return std::string();
    const std::string line = info.substr(begin, info.find("\\r", begin) - begin);
    return line.substr(0, line.find(",usec")) + line.substr(line.find(",failed"));
  };
  Client* client = Waiting(h, "BLPOP k 10");
  CHECK(calls().starts_with("cmdstat_blpop:calls=1,failed_calls=0"));
  CHECK(h.Run("INFO clients").find("blocked_clients:1") != std::string::npos);
  CHECK(h.Run("INFO clients").find("clients_in_timeout_table:1") != std::string::npos);
  CHECK(h.Run("CLIENT LIST").find("flags=b ") != std::string::npos);
  h.Run("RPUSH k a");
  CHECK(calls().starts_with("cmdstat_blpop:calls=1,failed_calls=0"));
  CHECK(h.Run("INFO clients").find("blocked_clients:0") != std::string::npos);
  h.Run(*client, "BLPOP k 10");
  h.Run(StrCat("CLIENT UNBLOCK ", client->id));
  CHECK(calls().starts_with("cmdstat_blpop:calls=2,failed_calls=1"));
  CHECK(h.Run("CLIENT LIST").find("flags=b ") == std::string::npos);
}

TEST_CASE("blocking: modes of replies hold when the reply comes") {
  CommandHarness h;
  Client* client = h.Connect();
  h.Run(*client, "CLIENT REPLY SKIP");
  h.Run(*client, "BLPOP k 0");
  h.Run("RPUSH k a");
  CHECK(Got(h, client).empty());
  CHECK(h.Run(*client, "PING") == "+PONG");
  h.Run(*client, "CLIENT REPLY OFF");
  h.Run(*client, "BLPOP k 0");
  h.Run("RPUSH k a");
  CHECK(Got(h, client).empty());
  CHECK(h.Run("EXISTS k") == ":0");
}

TEST_CASE(
    "blocking: messages come while a client waits, and its own invalidations after its reply") {
  CommandHarness h;
  Client* client = h.Connect();
  h.Run(*client, "HELLO 3");
  h.Run(*client, "SUBSCRIBE news");
  h.Run(*client, "CLIENT TRACKING ON");
  h.Run(*client, "LRANGE d 0 -1");
  h.Run(*client, "BLMOVE k d LEFT LEFT 0");
  h.Run("PUBLISH news hi");
  CHECK(Got(h, client) == ">[\"message\" \"news\" \"hi\"]");
  h.Run("RPUSH k a");
  CHECK(Got(h, client) == "\"a\" >[\"invalidate\" [\"d\"]]");
}

}  // namespace tally::server::blocking_commands_test
