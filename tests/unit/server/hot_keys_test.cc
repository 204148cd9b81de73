// HOTKEYS: sessions, what they show, and what sampling makes of it.
#include "server/state/hot_keys.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "server/admin/families.h"
#include "server/command_harness.h"

namespace tally::server::hot_keys_test {
namespace {

std::string Between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find(to, begin) - begin);
}

TEST_CASE("hot keys: a session from start to reset") {
  CommandHarness h;
  CHECK(h.Run("HOTKEYS GET") == "nil[]");
  CHECK(h.Run("HOTKEYS STOP") == "nil");
  h.Run("SET before 1");
  CHECK(h.Run("HOTKEYS START METRICS 2 CPU NET COUNT 2") == "+OK");
  CHECK(h.Run("HOTKEYS START METRICS 1 NET").starts_with("-ERR hot keys are being tracked"));
  CHECK(h.Run("HOTKEYS RESET").starts_with("-ERR hot keys are being tracked"));
  h.Advance(5000);
  h.Run({"SET", "large", std::string(10'000, 'x')});
  h.Run({"MSET", "one", std::string(300, 'x'), "two", std::string(300, 'x')});
  h.Run("PING");
  const std::string seen = h.Run("HOTKEYS GET");
  CHECK(seen.starts_with("[\"tracking-active\" :1 \"sample-ratio\" :1 \"selected-slots\" [] "));
  CHECK(seen.find("\"collection-start-time-unix-ms\" :1700000000000 "
                  "\"collection-duration-ms\" :5000 ") != std::string::npos);
  const std::string by_bytes = Between(seen, "\"by-net-bytes\"", "]");
  CHECK(by_bytes.starts_with("\"by-net-bytes\" [\"large\" :10013 "));
  CHECK((by_bytes.find("\"one\" :307") != std::string::npos ||
         by_bytes.find("\"two\" :307") != std::string::npos));
  CHECK(seen.find("by-cpu-time-us") != std::string::npos);
  CHECK(seen.find("before") == std::string::npos);
  CHECK(h.Run("HOTKEYS STOP") == "+OK");
  h.Advance(5000);
  h.Run({"SET", "later", std::string(20'000, 'x')});
  const std::string stopped = h.Run("HOTKEYS GET");
  CHECK(stopped.starts_with("[\"tracking-active\" :0"));
  CHECK(stopped.find("\"collection-duration-ms\" :5000") != std::string::npos);
  CHECK(stopped.find("later") == std::string::npos);
  CHECK(h.Run("HOTKEYS RESET") == "+OK");
  CHECK(h.Run("HOTKEYS GET") == "nil[]");
  CHECK(h.state.hot_keys.MemoryBytes() == 0);
}

TEST_CASE("hot keys: a duration ends the session, and only what was asked for is shown") {
  CommandHarness h;
  CHECK(h.Run("HOTKEYS START METRICS 1 NET DURATION 10") == "+OK");
  h.Run("SET a 1");
  h.Advance(10'000);
  h.Run("SET late 1");
  const std::string seen = h.Run("HOTKEYS GET");
  CHECK(seen.starts_with("[\"tracking-active\" :0"));
  CHECK(seen.find("\"collection-duration-ms\" :10000 ") != std::string::npos);
  CHECK(seen.find("\"a\"") != std::string::npos);
  CHECK(seen.find("late") == std::string::npos);
  CHECK(seen.find("cpu") == std::string::npos);
  CHECK(h.Run("HOTKEYS START METRICS 1 CPU") == "+OK");  // the one before is over
  CHECK(h.Run("HOTKEYS GET").find("\"a\"") == std::string::npos);
}

TEST_CASE("hot keys: whoever sets the clock changes nothing of how long a session lasts") {
  CommandHarness h;
  REQUIRE(h.Run("HOTKEYS START METRICS 1 NET DURATION 10") == "+OK");
  h.state.clock.Set(h.now() - 86'400'000);
  h.Advance(4'000);
  CHECK(h.Run("HOTKEYS GET").find("\"collection-duration-ms\" :4000 ") != std::string::npos);
  h.state.clock.Set(h.now() + 2 * 86'400'000);
  h.Advance(5'999);
  CHECK(h.Run("HOTKEYS GET").starts_with("[\"tracking-active\" :1"));
  h.Advance(1);
  CHECK(h.Run("HOTKEYS GET").starts_with("[\"tracking-active\" :0"));
}

TEST_CASE("hot keys: what a script takes is of the keys that it was called with") {
  CommandHarness h;
  h.Run("HOTKEYS START METRICS 1 NET");
  h.Run({"EVAL", "return redis.call('set', 'hidden', string.rep('x', 1000))", "1", "declared"});
  const std::string seen = h.Run("HOTKEYS GET");
  CHECK(seen.find("\"declared\"") != std::string::npos);
  CHECK(seen.find("hidden") == std::string::npos);
}

TEST_CASE("hot keys: what runs in a transaction counts once") {
  CommandHarness h;
  const auto bytes = [&](bool in_transaction) {
    h.Run("HOTKEYS START METRICS 1 NET");
    if (in_transaction) h.Run("MULTI");
    h.Run({"SET", "large", std::string(10'000, 'x')});
    h.Run("GET large");
    if (in_transaction) h.Run("EXEC");
    h.Run("HOTKEYS STOP");
    const std::string total = Between(h.Run("HOTKEYS GET"), "total-net-bytes\" :", " \"by-net");
    h.Run("HOTKEYS RESET");
    return std::stoll(total.substr(total.find(':') + 1));
  };
  const int64_t alone = bytes(false);
  CHECK(alone > 20'000);
  CHECK(bytes(true) < alone + 100);
}

TEST_CASE("hot keys: what is wrong with a call is said") {
  CommandHarness h;
  for (const char* call :
       {"METRICS 1", "METRICS 2 CPU", "METRICS 1 CPU NET", "METRICS 2 CPU CPU", "METRICS 3 CPU NET",
        "COUNT 5", "METRICS 1 CPU COUNT 0", "METRICS 1 CPU COUNT 65", "METRICS 1 CPU SAMPLE 0",
        "METRICS 1 CPU DURATION 0", "METRICS 1 CPU DURATION", "METRICS 1 CPU SLOTS 1 5",
        "METRICS 1 CPU OTHER 5", "METRICS 1 CPU METRICS 1 CPU", "METRICS 1 CPU METRICS 1 NET",
        "METRICS 1 CPU COUNT 5 COUNT 5", "METRICS 1 CPU DURATION 5 DURATION 6",
        "METRICS 1 CPU SAMPLE 1 sample 1"}) {
    INFO(call);
    CHECK(h.Run(StrCat("HOTKEYS START ", call)).starts_with("-ERR"));
  }
  CHECK(h.Run("HOTKEYS GET") == "nil[]");
}

TEST_CASE("hot keys: a sample is scaled up to about what all calls took") {
  const CommandTable commands(CommandFamilies());
  const Command& get = *commands.FindFullName("get")->command;
  HotKeys hot_keys(7);  // the seed: the same calls are looked at each time
  hot_keys.Start({.cpu = true, .count = 3, .sample = 8}, 1000, 1000, {});
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back(StrCat("key:", i));
  for (int i = 0; i < 80'000; ++i) {
    const std::string_view args[] = {"GET", i % 2 == 0 ? names[0] : names[1 + i % 999]};
    hot_keys.Note(get, args, 10, 5, 1000);
  }
  CHECK(hot_keys.totals().micros == 800'000);
  const auto top = hot_keys.ByMicros();
  REQUIRE(top.size() == 3);
  CHECK(top[0].key.view() == "key:0");
  CHECK(top[0].count > 360'000);
  CHECK(top[0].count < 440'000);
  CHECK(hot_keys.ByBytes().empty());
}

}  // namespace
}  // namespace tally::server::hot_keys_test
