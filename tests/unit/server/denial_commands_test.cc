// DENIALS: its rows, its windows, and who may see which.
#include <catch2/catch.hpp>
#include <string>

#include "core/engine/decisions.h"
#include "server/command_harness.h"

namespace tally::server::denial_commands_test {
namespace {

void Deny(CommandHarness& h, const std::string& key, int times = 1) {
  for (int i = 0; i < times; ++i) h.Run({"LIMIT.TAKE", key, "SLIDING", "0", "10m"});
}

TEST_CASE("denials: who was denied, by which rule, how often and when") {
  CommandHarness h;
  CHECK(h.Run("DENIALS") == "[]");
  Deny(h, "ann", 3);
  h.Advance(1000);
  h.Run("POLICY.SET login FIXED 1 60s");
  for (int i = 0; i < 3; ++i) h.Run("LIMIT.TAKE bob POLICY login");
  h.Run("LIMIT.TAKE free ALLOW");
  h.Run("LIMIT.PEEK eve SLIDING 0 10m");
  const std::string ann = "[\"ann\" \"SLIDING 0 10m\" :3 :0 :1700000000000 :0 :0 :1]";
  const std::string bob = "[\"bob\" \"login\" :2 :0 :1700000001000 :0 :0 :1]";
  CHECK(h.Run("DENIALS") == "[" + ann + " " + bob + "]");
  CHECK(h.Run("DENIALS COUNT 1") == "[" + ann + "]");
  CHECK(h.Run("DENIALS COUNT 0") == "[]");
  CHECK(h.Run("DENIALS POLICY login WINDOW 1h COUNT 5") == "[" + bob + "]");
  CHECK(h.Run("DENIALS POLICY log") == "[]");
  // A rule is no policy, whatever its text.
  CHECK(h.Run({"DENIALS", "POLICY", "SLIDING 0 10m"}) == "[]");
  h.Run("HELLO 3");
  CHECK(h.Run("DENIALS COUNT 1") == "[" + ann + "]");
}

TEST_CASE("denials: in which database, and by which rule") {
  CommandHarness h;
  h.Run("POLICY.SET two FIXED 9 60s FIXED 1 10m");
  h.Run("POLICY.SET one FIXED 0 60s");
  const auto deny = [&](const std::string& line) { CHECK(h.Run(line).starts_with("[:0")); };
  deny("LIMIT.TAKE a POLICY one");
  deny("LIMIT.TAKE b ALLOW POLICY two COST 2");
  deny("LIMIT.TAKE c ALLOW AND d FIXED 2 1m FIXED 1 2m COST 2");
  deny("LIMIT.TAKE e POLICY two COST 10");
  h.Run("SELECT 15");
  deny("LIMIT.TAKE a POLICY one");
  deny("LIMIT.TAKE a POLICY one");
  h.Run("QUOTA.SETLIMIT book 1 0 1 1d");
  deny("QUOTA.BUY book ann order ITEMS 1 0 2");
  const std::string all = h.Run("DENIALS");
  const auto has = [&](const std::string& key, const std::string& rule, const std::string& rest) {
    const std::string row = "[\"" + key + "\" \"" + rule + "\" ";
    const size_t at = all.find(row);
    return at != all.npos && all.substr(at + row.size()).starts_with(rest);
  };
  CAPTURE(all);
  CHECK(all.starts_with("[[\"a\" \"one\" :2 :0 :1700000000000 :0 :15 :1]"));
  CHECK(has("b", "two", ":1 :0 :1700000000000 :0 :0 :2]"));
  CHECK(has("d", "FIXED 1 2m", ":1 :0 :1700000000000 :0 :0 :2]"));
  CHECK(has("e", "two", ":1 :0 :1700000000000 :0 :0 :1]"));
  CHECK(has("book", "QUOTA 1 0 ann", ":1 :0 :1700000000000 :0 :15 :0]"));
  CHECK(all.find("[\"a\" \"one\" :1 :0 :1700000000000 :0 :0 :1]") != all.npos);
}

TEST_CASE("denials: each window forgets by itself") {
  CommandHarness h;
  Deny(h, "ann");
  for (const char* window : {"1m", "60", "60s", "5m", "1h"}) {
    CHECK(h.Run({"DENIALS", "WINDOW", window}) != "[]");
  }
  h.Advance(60'000);
  CHECK(h.Run("DENIALS WINDOW 1m") == "[]");
  CHECK(h.Run("DENIALS") != "[]");
  h.Advance(300'000);
  CHECK(h.Run("DENIALS") == "[]");
  CHECK(h.Run("DENIALS WINDOW 1h") != "[]");
  h.Advance(3'600'000);
  CHECK(h.Run("DENIALS WINDOW 1h") == "[]");
}

TEST_CASE("denials: what is wrong with a call is said") {
  CommandHarness h;
  CHECK(h.Run("DENIALS WINDOW 2m") == "-ERR WINDOW must be 1m, 5m or 1h");
  CHECK(h.Run("DENIALS WINDOW x") == "-ERR WINDOW must be 1m, 5m or 1h");
  CHECK(h.Run("DENIALS COUNT -1").starts_with("-ERR COUNT must be"));
  CHECK(h.Run("DENIALS COUNT") ==
        "-ERR syntax error. Usage: DENIALS [WINDOW <1m | 5m | 1h>] [COUNT n] [POLICY name]");
  CHECK(h.Run("DENIALS KEY 1").starts_with("-ERR syntax error. Usage"));
}

TEST_CASE("denials: a user sees the keys that it may read, and of long keys none by a pattern") {
  CommandHarness h;
  const std::string longest(64, 'a');
  Deny(h, longest);
  Deny(h, longest + "bc");
  Deny(h, "secret");
  CHECK(h.Run("DENIALS").find("aaa... (2 more bytes)\"") != std::string::npos);
  h.Run("ACL SETUSER ann on nopass +@all ~a*");
  Client* ann = h.Connect();
  h.Run(*ann, "AUTH ann x");
  const std::string seen = h.Run(*ann, "DENIALS");
  CHECK(seen.find(longest + "\"") != std::string::npos);
  CHECK(seen.find("more bytes") == std::string::npos);
  CHECK(seen.find("secret") == std::string::npos);
}

TEST_CASE("denials: the memory of all windows is bounded, whatever keys come") {
  CommandHarness h;
  h.StopEffects();
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 20; ++i) Deny(h, StrCat("key:", round, ":", i, std::string(200, 'x')));
    h.Advance(10'000);
  }
  Denials& denials = h.engine.decisions().denials();
  CHECK(denials.MemoryBytes() < 1'900'000);
  CHECK(denials.Top(Denials::Window::kHour, h.now()).size() <= 6 * Denials::kNames);
}

TEST_CASE("denials: what a log is replayed from counts nothing") {
  CommandHarness h;
  const CommandEntry* take = h.commands.FindFullName("limit.take");
  const std::vector<std::string_view> words = {"LIMIT.TAKE", "k", "SLIDING", "0", "10m"};
  h.dispatcher.Replay(*h.self, *take, words);
  CHECK(h.Run("DENIALS") == "[]");
  CHECK(h.Run("INFO limits").find("limit.take:allowed=0,denied=0") != std::string::npos);
}

}  // namespace
}  // namespace tally::server::denial_commands_test
