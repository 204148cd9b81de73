#include <catch2/catch.hpp>
#include <string>

#include "server/command_harness.h"

namespace tally::server::acl_users_test {
namespace {

constexpr char kNoKey[] =
    "-NOPERM this user has no permissions to access one of the keys used as arguments";
constexpr char kNoChannel[] =
    "-NOPERM this user has no permissions to access one of the channels used as arguments";

std::string NoCommand(std::string_view name) {
  return StrCat("-NOPERM this user has no permissions to run the '", name, "' command");
}

// A client logged in as a user with these rules.
Client* As(CommandHarness& h, const char* name, std::vector<std::string> rules) {
  std::vector<std::string> words = {"ACL", "SETUSER", name, "on", ">pw"};
  words.insert(words.end(), rules.begin(), rules.end());
  REQUIRE(h.Run(words) == "+OK");
  Client* client = h.Connect();
  REQUIRE(h.Run(*client, {"AUTH", name, "pw"}) == "+OK");
  return client;
}

}  // namespace

TEST_CASE("acl: commands, by name, subcommand and category") {
  CommandHarness h;
  Client* client = As(h, "ann", {"~*", "+get", "+@hash", "-hset", "+config|get"});
  CHECK(h.Run(*client, "GET k") == "nil");
  CHECK(h.Run(*client, "SET k 1") == NoCommand("set"));
  CHECK(h.Run(*client, "HSET h a 1") == NoCommand("hset"));
  CHECK(h.Run(*client, "HGET h a") == "nil");
  CHECK(h.Run(*client, "CONFIG GET port").starts_with("[\"port\""));
  CHECK(h.Run(*client, "CONFIG SET port 1") == NoCommand("config|set"));
  CHECK(h.Run(*client, "ACL WHOAMI") == NoCommand("acl|whoami"));
  h.Run("ACL SETUSER ann +@all -@dangerous +keys");
  CHECK(h.Run(*client, "SET k 1") == "+OK");
  CHECK(h.Run(*client, "KEYS *") == "[\"k\"]");
  CHECK(h.Run(*client, "FLUSHALL") == NoCommand("flushall"));
  CHECK(h.Run(*client, "ACL WHOAMI") == "\"ann\"");
}

TEST_CASE("acl: keys, for reading and for writing") {
  CommandHarness h;
  Client* client = As(h, "ann", {"+@all", "~k*", "%R~in*", "%W~out*"});
  CHECK(h.Run(*client, "MGET k1 in1") == "[nil nil]");
  CHECK(h.Run(*client, "MGET k1 other") == kNoKey);
  CHECK(h.Run(*client, "SET in1 x") == kNoKey);
  CHECK(h.Run(*client, "SET out1 x") == "+OK");
  CHECK(h.Run(*client, "SET out1 x GET") == kNoKey);
  CHECK(h.Run(*client, "GET out1") == kNoKey);
  CHECK(h.Run(*client, "INCR out2") == kNoKey);
  CHECK(h.Run(*client, "EXISTS in1 out1") == ":1");  // says nothing of the value
  CHECK(h.Run(*client, "COPY in1 out1") == ":0");
  CHECK(h.Run(*client, "COPY out1 in1") == kNoKey);
  CHECK(h.Run(*client, "SUNIONSTORE out1 in1 in2") == ":0");
  CHECK(h.Run(*client, "SUNIONSTORE out1 out2") == kNoKey);
  CHECK(h.Run(*client, "RENAME k1 in1") == kNoKey);
  CHECK(h.Run(*client, "ZUNION 2 in1 elsewhere") == kNoKey);
}

TEST_CASE("acl: channels, and a listener whose right is taken") {
  CommandHarness h;
  Client* client = As(h, "ann", {"+@all", "allkeys", "&ch*"});
  CHECK(h.Run(*client, "PUBLISH ch1 x") == ":0");
  CHECK(h.Run(*client, "PUBLISH other x") == kNoChannel);
  CHECK(h.Run(*client, "PSUBSCRIBE ch1*") == kNoChannel);
  CHECK(h.Run(*client, "SUBSCRIBE ch1 other") == kNoChannel);
  CHECK(h.Run(*client, "SUBSCRIBE ch1") == "[\"subscribe\" \"ch1\" :1]");
  h.Run("ACL SETUSER ann &more*");
  CHECK_FALSE(client->finished());
  h.Run("ACL SETUSER ann resetchannels");
  CHECK(client->finished());
}

TEST_CASE("acl: MULTI asks when queueing, and again at EXEC") {
  CommandHarness h;
  Client* client = As(h, "ann", {"+@all", "~k*"});
  h.Run(*client, "MULTI");
  CHECK(h.Run(*client, "GET other") == kNoKey);
  CHECK(h.Run(*client, "EXEC") == "-EXECABORT Transaction discarded because of previous errors.");
  h.Run(*client, "MULTI");
  h.Run(*client, "SET k1 1");
  h.Run(*client, "GET k1");
  h.Run("ACL SETUSER ann -set");
  CHECK(h.Run(*client, "EXEC") ==
        "[-NOPERM ACLs rules changed between the moment the transaction was accumulated and the "
        "EXEC call. This command is no longer allowed for the following reason: no permission to "
        "execute the command or subcommand nil]");
}

TEST_CASE("acl setuser: all rules or none") {
  CommandHarness h;
  const auto error = [&](const char* rule) {
    std::string reply = h.Run({"ACL", "SETUSER", "bob", "on", rule});
    const std::string prefix = StrCat("-ERR Error in ACL SETUSER modifier '", rule, "': ");
    REQUIRE(reply.starts_with(prefix));
    return reply.substr(prefix.size());
  };
  CHECK(error("foo") == "Syntax error");
  CHECK(error("+nosuch") == "Unknown command or category name in ACL");
  CHECK(error("+@nosuch") == "Unknown command or category name in ACL");
  CHECK(error("+config|nosuch") == "Unknown command or category name in ACL");
  CHECK(error("<nopw") == "The password you are trying to remove from the user does not exist");
  CHECK(error("#zz").starts_with("The password hash must be exactly 64 characters"));
  CHECK(error("%Z~a") == "Syntax error");
  CHECK(h.Run("ACL GETUSER bob") == "nil");
  CHECK(h.Run("ACL SETUSER bob ~* ~a").find("Adding a pattern after the *") != std::string::npos);
  CHECK(h.Run({"ACL", "SETUSER", "a b"}) ==
        "-ERR Usernames can't contain spaces or null characters");
}

TEST_CASE("acl: what is told of users, and their lines in the configuration") {
  CommandHarness h;
  h.Run("ACL SETUSER ann on nopass ~a* %R~b* &ch* +get -@hash +client|id");
  const std::string line =
      "ann on nopass ~a* %R~b* resetchannels &ch* -@all +get -@hash +client|id";
  CHECK(h.Run("ACL LIST") ==
        StrCat("[\"user ", line, "\" \"user default on nopass ~* &* +@all\"]"));
  const std::vector<std::string> lines = h.state.users.ConfigLines();
  CHECK(lines == std::vector<std::string>{line});
  CommandHarness other;
  CHECK(other.state.users.SetFromConfig(lines).empty());
  CHECK(other.Run("ACL GETUSER ann") == h.Run("ACL GETUSER ann"));
  h.Run("ACL SETUSER ann +@all -get -get");
  CHECK(h.Run("ACL GETUSER ann").find("\"+@all -get\"") != std::string::npos);
  CHECK(h.Run("ACL DELUSER ann nosuch") == ":1");
  CHECK(h.state.users.ConfigLines().empty());
  CHECK(h.Run("ACL USERS") == "[\"default\"]");
}

TEST_CASE("acl: passwords, the default user, and who is deleted") {
  CommandHarness h;
  Client* client = As(h, "ann", {"+@all"});
  CHECK(h.Run(*client, "AUTH ann wrong").starts_with("-WRONGPASS"));
  h.Run("ACL SETUSER ann >other");
  CHECK(h.Run(*client, "AUTH ann other") == "+OK");
  h.Run("ACL SETUSER ann <other off");
  CHECK(h.Run(*client, "AUTH ann pw").starts_with("-WRONGPASS"));
  CHECK(h.Run("ACL DELUSER default") == "-ERR The 'default' user cannot be removed");
  CHECK(h.Run("ACL DELUSER ann") == ":1");
  CHECK(client->finished());
  h.Run("ACL SETUSER default resetpass >secret");
  Client* late = h.Connect();
  CHECK(h.Run(*late, "PING") == "-NOAUTH Authentication required.");
  CHECK(h.Run(*late, "AUTH secret") == "+OK");
}

TEST_CASE("acl: selectors, each of which has to allow the whole call") {
  CommandHarness h;
  Client* client = As(h, "ann", {"+get", "~a*", "(%R~b* +mget)", "(~c*", "+set)"});
  CHECK(h.Run(*client, "GET a1") == "nil");
  CHECK(h.Run(*client, "GET b1") == kNoKey);
  CHECK(h.Run(*client, "MGET b1 b2") == "[nil nil]");
  CHECK(h.Run(*client, "SET a1 1") == kNoKey);
  CHECK(h.Run(*client, "SET c1 1") == "+OK");
  CHECK(h.Run(*client, "DEL c1") == NoCommand("del"));
  CHECK(h.Run("ACL DRYRUN ann mget b1 c1") ==
        "\"This user has no permissions to access the 'c1' key\"");
  CHECK(h.Run("ACL DRYRUN ann mget b1") == "+OK");
  CHECK(h.Run("ACL GETUSER ann")
            .find("\"selectors\" [[\"commands\" \"-@all +mget\" \"keys\" "
                  "\"%R~b*\" \"channels\" \"\"] [") != std::string::npos);
  h.Run("ACL SETUSER ann clearselectors");
  CHECK(h.Run(*client, "SET c1 1") == NoCommand("set"));
  CHECK(h.Run("ACL SETUSER ann (~d") ==
        "-ERR Unmatched parenthesis in acl selector starting at '(~d'.");
  CHECK(h.Run("ACL SETUSER ann (+@all ~* &*)") == "+OK");
  CHECK(h.Run(*client, "SET c1 1") == "+OK");
}

TEST_CASE("acl: a first argument of a command that is not allowed") {
  CommandHarness h;
  Client* client = As(h, "ann", {"+select|1", "+select|2"});
  CHECK(h.Run(*client, "SELECT 1") == "+OK");
  CHECK(h.Run(*client, "SELECT 3") == NoCommand("select"));
  h.Run("ACL SETUSER ann -select");
  CHECK(h.Run(*client, "SELECT 1") == NoCommand("select"));
}

TEST_CASE("acl: what scripts call is asked for, as the caller's") {
  CommandHarness h;
  Client* client = As(h, "ann", {"+@all", "-set", "~k*"});
  CHECK(h.Run(*client, {"EVAL", "return redis.call('get', 'k')", "0"}) == "nil");
  CHECK(h.Run(*client, {"EVAL", "return redis.pcall('get', 'x')", "0"}) ==
        "-ERR The user executing the script can't access at least one of the keys mentioned in the "
        "command arguments");
  CHECK(h.Run(*client, {"EVAL", "return redis.pcall('set', 'k', '1')", "0"}) ==
        "-ERR The user executing the script can't run this command or subcommand");
  CHECK(h.state.acl_log.entries()[0].place == "lua");
  CHECK(h.state.acl_log.entries()[0].client.find("user=ann") != std::string::npos);
}

TEST_CASE("acl file: all users in the place of all there were, or an error for each line") {
  CommandHarness h;
  As(h, "ann", {"+get"});
  AclUsers& users = h.state.users;
  const std::string text = "user bob on nopass ~a*  +get (~b* +set)\n\nuser cid\r\n";
  CHECK(users.Load(text, "f").empty());
  CHECK(h.Run("ACL USERS") == "[\"bob\" \"cid\" \"default\"]");
  const std::string written = users.Text();
  CHECK(users.Load(written, "f").empty());
  CHECK(users.Text() == written);
  const std::string errors =
      users.Load("user ann +nosuch\nann on\nuser bob (~a\nuser cid\nuser cid\n", "f");
  CHECK(
      errors.starts_with("f:1: Error in applying operation '+nosuch': Unknown command or "
                         "category name in ACL. f:2 should start with user keyword"));
  CHECK(errors.find("WARNING: Duplicate user 'cid' found on line 5. ") != std::string::npos);
  CHECK(users.Text() == written);
  CHECK(h.Run("ACL LOAD").starts_with("-ERR This Redis instance is not configured to use an ACL"));
}

TEST_CASE("acl: lines of the configuration that are no users") {
  CommandHarness h;
  for (const std::vector<std::string>& lines : std::vector<std::vector<std::string>>{
           {"ann on", "ann off"}, {""}, {"\"a b\" on"}, {"\"ann on"}, {"ann nosuch"}}) {
    INFO(lines[0]);
    CHECK_FALSE(h.state.users.SetFromConfig(lines).empty());
  }
}

TEST_CASE("protected mode: others come in when the default user needs a password") {
  CommandHarness h;
  AclUsers& users = h.state.users;
  CHECK_FALSE(users.DefaultNeedsPassword());
  h.config.requirepass = "secret";
  CHECK(users.DefaultNeedsPassword());
  h.Run("ACL SETUSER default nopass");
  CHECK_FALSE(users.DefaultNeedsPassword());
  h.Run("ACL SETUSER default off");
  CHECK_FALSE(users.DefaultNeedsPassword());
  h.Run("ACL SETUSER default resetpass");
  CHECK(users.DefaultNeedsPassword());
  h.Run("ACL SETUSER default nopass on");
  h.config.requirepass = "";
  CHECK_FALSE(users.DefaultNeedsPassword());
  CHECK(users.Load("user default off\n", "f").empty());
  CHECK(users.DefaultNeedsPassword());
  CHECK(users.Load("user ann on nopass\n", "f").empty());
  CHECK_FALSE(users.DefaultNeedsPassword());
}

TEST_CASE("acl log: the age of an entry is the time that has passed, whoever sets the clock") {
  CommandHarness h;
  Client* client = As(h, "ann", {"+get", "~k*"});
  h.Run(*client, "GET other");
  h.state.clock.Set(h.now() - 86'400'000);
  h.Advance(2'500);
  CHECK(h.Run("ACL LOG").find("\"age-seconds\" \"2.5\"") != std::string::npos);
}

TEST_CASE("acl log: what was denied, the same counted") {
  CommandHarness h;
  Client* client = As(h, "ann", {"+get", "~k*"});
  h.Run(*client, "SET k 1");
  h.Run(*client, "SET k 1");
  h.Run(*client, "GET other");
  h.Run(*client, "AUTH ann wrong");
  const auto log = [&](const char* line) { return h.Run(line); };
  CHECK(h.state.acl_log.entries().size() == 3);
  CHECK(log("ACL LOG 1")
            .starts_with(
                "[[\"count\" :1 \"reason\" \"auth\" \"context\" \"toplevel\" \"object\" \"AUTH\" "
                "\"username\" \"ann\" \"age-seconds\" \"0\" \"client-info\" \"id="));
  CHECK(h.state.acl_log.entries()[1].object == "other");
  CHECK(h.state.acl_log.entries()[2].count == 2);
  h.Advance(61'000);
  h.Run(*client, "SET k 1");
  CHECK(h.state.acl_log.entries().size() == 4);
  CHECK(log("ACL LOG RESET") == "+OK");
  CHECK(log("ACL LOG") == "[]");
}

}  // namespace tally::server::acl_users_test
