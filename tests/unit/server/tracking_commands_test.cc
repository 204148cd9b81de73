// CLIENT TRACKING: what clients that cache are told, and when.
#include <catch2/catch.hpp>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/command_harness.h"

namespace tally::server::tracking_commands_test {
namespace {

// A client that speaks RESP3, which gets the messages between its replies.
Client* ConnectCaching(CommandHarness& h, const std::string& options = "") {
  Client* client = h.Connect();
  h.Run(*client, "HELLO 3");
  REQUIRE(h.Run(*client, StrCat("CLIENT TRACKING ON ", options)) == "+OK");
  return client;
}

std::string Invalid(const std::string& key) { return ">[\"invalidate\" [\"" + key + "\"]]"; }

constexpr const char* kAllInvalid = ">[\"invalidate\" nil]";

std::string Info(CommandHarness& h, Client& client) { return h.Run(client, "CLIENT TRACKINGINFO"); }

}  // namespace

TEST_CASE("tracking: a key that was read is invalidated once") {
  CommandHarness h;
  Client* client = ConnectCaching(h);
  h.Run(*client, "GET k");
  CHECK(h.state.tracking.keys() == 1);
  h.Run("SET k 1");
  CHECK(h.Received(*client) == Invalid("k"));
  CHECK(h.state.tracking.keys() == 0);
  h.Run("SET k 2");
  h.Run("SET other 2");
  CHECK(h.Received(*client).empty());
  // Its own change comes after the reply.
  h.Run(*client, "MGET k other");
  CHECK(h.Run(*client, "SET k 3") == "+OK " + Invalid("k"));
  h.Run(*client, "MULTI");
  h.Run(*client, "GET k");
  h.Run(*client, "SET k 4");
  CHECK(h.Run(*client, "EXEC") == "[\"3\" +OK] " + Invalid("k"));
}

TEST_CASE("tracking: every way in which a key changes") {
  CommandHarness h;
  Client* client = ConnectCaching(h);
  const auto change = [&](const std::string& command) {
    h.Run(*client, "MGET k other");
    h.Run(command);
    return h.Received(*client);
  };
  CHECK(change("SET k 1") == Invalid("k"));
  CHECK(change("SETNX k 2").empty());
  CHECK(change("EXPIRE k 100") == Invalid("k"));
  CHECK(change("PERSIST k") == Invalid("k"));
  CHECK(change("RENAME k other") == Invalid("k") + " " + Invalid("other"));
  CHECK(change("COPY other k") == Invalid("k"));
  CHECK(change("MOVE k 1") == Invalid("k"));
  CHECK(change("DEL other k") == Invalid("other"));
  CHECK(change("FLUSHDB") == kAllInvalid);
  CHECK(change("FLUSHALL") == kAllInvalid);
  CHECK(change("SWAPDB 0 1").empty());  // both are empty
  CHECK(change("SET k 1") == Invalid("k"));
  CHECK(change("SWAPDB 0 1") == kAllInvalid);
  CHECK(change("SWAPDB 2 3").empty());
  CHECK(h.Run({"EVAL", "return redis.call('SET',KEYS[1],1)", "1", "other"}) == "+OK");
  CHECK(h.Received(*client) == Invalid("other"));
  h.Run("SET k 1 PX 10");
  h.Run(*client, "GET k");
  h.Received(*client);
  h.Advance(10);
  h.ExpireDue();
  CHECK(h.Received(*client) == Invalid("k"));
}

TEST_CASE("tracking: native commands invalidate, but their reads are not remembered") {
  CommandHarness h;
  Client* client = ConnectCaching(h);
  for (const char* read : {"HITS.COUNT k", "HITS.SHOW k", "LIMIT.PEEK k FIXED 1 10", "LIMIT.SHOW k",
                           "ACTIVE.ONLINE k", "QUOTA.LEFT k 1 1"}) {
    INFO(read);
    h.Run(*client, read);
    CHECK(h.state.tracking.keys() == 0);
  }
  CHECK(h.Run("COMMAND INFO limit.peek").find("~[") == std::string::npos);
  CHECK(h.Run("COMMAND INFO limit.peek").find("[\"nondeterministic_output\"]") !=
        std::string::npos);
  CHECK(h.Run("COMMAND INFO get").find("nondeterministic_output") == std::string::npos);
  h.Run(*client, "EXISTS k");
  h.Run("HITS.ADD k 10");
  CHECK(h.Received(*client) == Invalid("k"));
  h.Run(*client, "TYPE l");
  h.Run("LIMIT.TAKE l FIXED 2 10");
  CHECK(h.Received(*client) == Invalid("l"));
}

TEST_CASE("tracking: OPTIN, OPTOUT and NOLOOP") {
  CommandHarness h;
  Client* in = ConnectCaching(h, "OPTIN");
  h.Run(*in, "GET k");
  CHECK(h.state.tracking.keys() == 0);
  h.Run(*in, "CLIENT CACHING YES");
  CHECK(Info(h, *in) ==
        "{\"flags\" ~[\"on\" \"optin\" \"caching-yes\"] \"redirect\" :0 \"prefixes\" []}");
  h.Run(*in, "GET k");
  CHECK(h.state.tracking.keys() == 1);
  h.Run(*in, "GET other");
  CHECK(h.state.tracking.keys() == 1);
  // All of a transaction; and a command that is refused uses it up.
  h.Run(*in, "CLIENT CACHING YES");
  h.Run(*in, "MULTI");
  h.Run(*in, "GET a");
  h.Run(*in, "GET b");
  h.Run(*in, "EXEC");
  CHECK(h.state.tracking.keys() == 3);
  h.Run(*in, "CLIENT CACHING YES");
  h.Run(*in, "GET");
  h.Run(*in, "GET c");
  CHECK(h.state.tracking.keys() == 3);
  h.Disconnect(in);
  CHECK(h.state.tracking.keys() == 0);

  Client* out = ConnectCaching(h, "OPTOUT NOLOOP");
  h.Run(*out, "CLIENT CACHING NO");
  h.Run(*out, "GET k");
  CHECK(h.state.tracking.keys() == 0);
  h.Run(*out, "GET k");
  CHECK(h.Run(*out, "SET k 1") == "+OK");
  h.Run(*out, "GET k");
  h.Run("SET k 2");
  CHECK(h.Received(*out) == Invalid("k"));
}

TEST_CASE("tracking: what does not fit together is refused, and changes nothing") {
  CommandHarness h;
  CHECK(h.Run("CLIENT TRACKING MAYBE") == "-ERR syntax error");
  CHECK(h.Run("CLIENT TRACKING ON PREFIX a") ==
        "-ERR PREFIX option requires BCAST mode to be enabled");
  CHECK(h.Run("CLIENT TRACKING ON OPTIN OPTOUT") ==
        "-ERR You can't specify both OPTIN mode and OPTOUT mode");
  CHECK(h.Run("CLIENT TRACKING ON BCAST OPTIN") ==
        "-ERR OPTIN and OPTOUT are not compatible with BCAST");
  CHECK(h.Run("CLIENT TRACKING ON REDIRECT 99") ==
        "-ERR The client ID you want redirect to does not exist");
  CHECK(h.Run("CLIENT TRACKING ON REDIRECT -1") ==
        "-ERR The client ID you want redirect to does not exist");
  CHECK(h.Run("CLIENT TRACKING ON REDIRECT 1 REDIRECT 1") ==
        "-ERR A client can only redirect to a single other client");
  CHECK(h.Run("CLIENT TRACKING ON BCAST PREFIX a PREFIX ab") ==
        "-ERR Prefix 'a' overlaps with another provided prefix 'ab'. Prefixes for a single client "
        "must not overlap.");
  CHECK(h.Run("CLIENT CACHING YES").starts_with("-ERR CLIENT CACHING can be called only when"));
  CHECK_FALSE(h.state.tracking.active());
  CHECK(h.Run("CLIENT TRACKING ON BCAST PREFIX ab") == "+OK");
  CHECK(
      h.Run("CLIENT TRACKING ON BCAST PREFIX abc") ==
      "-ERR Prefix 'abc' overlaps with an existing prefix 'ab'. Prefixes for a single client must "
      "not overlap.");
  CHECK(h.Run("CLIENT TRACKING ON") ==
        "-ERR You can't switch BCAST mode on/off before disabling tracking for this client, and "
        "then re-enabling it with a different mode.");
  CHECK(h.Run("CLIENT TRACKINGINFO") ==
        "[\"flags\" [\"on\" \"bcast\"] \"redirect\" :0 \"prefixes\" [\"ab\"]]");
  CHECK(h.Run("CLIENT TRACKING OFF") == "+OK");
  CHECK(h.state.tracking.prefixes() == 0);
}

TEST_CASE("tracking: broadcasts, once a turn and by prefix") {
  CommandHarness h;
  Client* some = ConnectCaching(h, "BCAST PREFIX a: PREFIX b NOLOOP");
  Client* all = ConnectCaching(h, "BCAST");
  CHECK(h.state.tracking.prefixes() == 3);
  h.Run("MSET b1 1 a:1 1 c 1 a:1 2");
  CHECK(h.Received(*all).empty());
  h.Run(*some, "SET a:own 1");
  h.state.tracking.FinishTurn();
  CHECK(h.Received(*all) == ">[\"invalidate\" [\"a:1\" \"a:own\" \"b1\" \"c\"]]");
  const std::string received = h.Received(*some);
  CHECK((received == Invalid("a:1") + " " + Invalid("b1") ||
         received == Invalid("b1") + " " + Invalid("a:1")));
  h.Run(*some, "SET a:own 2");
  h.state.tracking.FinishTurn();
  CHECK(h.Received(*some).empty());
  // Who leaves before the end of the turn is not sent to, and neither is a prefix without clients.
  h.Run("SET b1 1");
  h.Disconnect(some);
  h.state.tracking.FinishTurn();
  CHECK(h.state.tracking.prefixes() == 1);
  CHECK(h.Received(*all) == ">[\"invalidate\" [\"a:own\"]] " + Invalid("b1"));
  h.Run("FLUSHALL");
  CHECK(h.Received(*all) == kAllInvalid);
}

TEST_CASE("tracking: redirected to a subscriber, or to nobody") {
  CommandHarness h;
  Client* subscriber = h.Connect();
  h.Run(*subscriber, "SUBSCRIBE __redis__:invalidate");
  Client* client = h.Connect();
  CHECK(h.Run(*client, StrCat("CLIENT TRACKING ON REDIRECT ", subscriber->id)) == "+OK");
  CHECK(h.Run(*client, "CLIENT GETREDIR") == StrCat(":", subscriber->id));
  h.Run(*client, "GET k");
  h.Run("SET k 1");
  CHECK(h.Received(*client).empty());
  CHECK(h.Received(*subscriber) == "[\"message\" \"__redis__:invalidate\" [\"k\"]]");
  h.Run("FLUSHALL");
  CHECK(h.Received(*subscriber) == "[\"message\" \"__redis__:invalidate\" nil]");
  h.Disconnect(subscriber);
  h.Run(*client, "HELLO 3");
  h.Run(*client, "GET k");
  h.Run("SET k 2");
  CHECK(h.Received(*client) == ">[\"tracking-redir-broken\" :2]");
  CHECK(Info(h, *client).find("broken_redirect") != std::string::npos);
  CHECK(h.Run(*client, "CLIENT INFO").find(" flags=tR ") != std::string::npos);
  h.Run(*client, "RESET");
  CHECK_FALSE(h.state.tracking.active());
  CHECK(h.Run(*client, "CLIENT GETREDIR") == ":-1");
}

TEST_CASE("tracking: what is too many or too long is invalidated at once") {
  Config config;
  config.tracking_table_max_keys = 10;
  CommandHarness h(config);
  Client* client = ConnectCaching(h);
  for (int i = 0; i < 100; ++i) h.Run(*client, StrCat("GET k", i));
  CHECK(h.state.tracking.keys() == 10);
  const std::string reply = h.Run(*client, "GET k100");
  CHECK(reply.starts_with("nil >[\"invalidate\" [\"k"));
  h.config.tracking_table_max_keys = 3;
  CHECK(h.state.tracking.has_work());
  h.state.tracking.FinishTurn();
  CHECK(h.state.tracking.keys() == 3);
  CHECK_FALSE(h.state.tracking.has_work());
  h.Received(*client);
  const std::string longest(16 * 1024, 'k');
  h.config.tracking_table_max_keys = 0;
  CHECK(h.Run(*client, {"GET", longest}) == "nil");
  CHECK(h.Run(*client, {"GET", longest + "k"}) == "nil " + Invalid(longest + "k"));
  CHECK(h.state.tracking.keys() == 4);
}

TEST_CASE("tracking: a script's reads are those of the keys that it was called with") {
  CommandHarness h;
  Client* client = ConnectCaching(h);
  h.Run(*client, {"EVAL", "return 1", "1", "k"});
  CHECK(h.state.tracking.keys() == 0);
  h.Run(*client, {"EVAL", "return redis.call('GET',KEYS[1])", "2", "k", "other"});
  CHECK(h.state.tracking.keys() == 2);
  h.Run("FLUSHALL");
  CHECK(h.Received(*client) == kAllInvalid);
  h.Run(*client, {"EVAL_RO", "return 1", "1", "k"});
  CHECK(h.state.tracking.keys() == 0);
  CHECK(h.Run(*client, {"EVAL", "redis.call('GET',KEYS[1]) return redis.call('SET',KEYS[1],1)", "1",
                        "k"}) == "+OK " + Invalid("k"));
  CHECK(h.state.tracking.keys() == 0);
}

}  // namespace tally::server::tracking_commands_test
