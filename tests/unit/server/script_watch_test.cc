// Scripts that take long: who else is served, and how they are ended.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "server/command_harness.h"
#include "server/script/script_engine.h"

namespace tally::server::script_watch_test {
namespace {

using Lines = std::vector<std::string>;

constexpr char kBusy[] =
    "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
constexpr char kNotBusy[] = "-NOTBUSY No scripts in execution right now.";
constexpr char kUnkillable[] =
    "-UNKILLABLE Sorry the script already executed write commands against the dataset. You can "
    "either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE "
    "command.";
constexpr char kKilled[] = "-ERR Script killed by user with SCRIPT KILL...";

Config Impatient() {
  Config config;
  config.busy_reply_threshold = 1;
  return config;
}

// A server where another client acts while a script is busy.
struct BusyHarness : CommandHarness {
  BusyHarness() : CommandHarness(Impatient()), other(*Connect()) {}

  // Runs the script; `act` is called each time that the others are served.
  std::string RunWhile(const std::string& script, const std::function<void()>& act) {
    process.serve_others = [this, act] {
      ++served;
      act();
      return true;
    };
    const std::string reply = Run({"EVAL", script, "0"});
    return reply.substr(0, reply.find(" script: "));
  }
  // Kills it at once.
  std::string Kill(const std::string& script) {
    return RunWhile(script, [this] { CHECK(Run(other, "SCRIPT KILL") == "+OK"); });
  }

  Client& other;
  int served = 0;
};

}  // namespace

TEST_CASE("busy script: others are told BUSY, but for what needs no data") {
  BusyHarness h;
  h.Run("SET k 1");
  bool asked = false;
  const auto act = [&] {
    if (std::exchange(asked, true)) return;
    CHECK(h.Run(h.other, "GET k") == kBusy);
    CHECK(h.Run(h.other, "SET k 2") == kBusy);
    CHECK(h.Run(h.other, "PING") == kBusy);
    CHECK(h.Run(h.other, "INFO") == kBusy);
    CHECK(h.Run(h.other, {"EVAL", "return 1", "0"}) == kBusy);
    CHECK(h.Run(h.other, "SCRIPT FLUSH") == kBusy);
    CHECK(h.Run(h.other, "SHUTDOWN") == kBusy);
    CHECK(h.Run(h.other, "SHUTDOWN SAVE") == kBusy);
    CHECK(h.Run(h.other, "AUTH x").starts_with("-ERR AUTH <password> called without"));
    CHECK(h.Run(h.other, "HELLO 2").starts_with("["));
    CHECK(h.Run(h.other, "WATCH k") == "+OK");
    CHECK(h.Run(h.other, "UNWATCH") == "+OK");
    CHECK(h.Run(h.other, "MULTI") == "+OK");
    CHECK(h.Run(h.other, "SET k 2") == kBusy);
    CHECK(h.Run(h.other, "EXEC") ==
          "-EXECABORT Transaction discarded because of: " + std::string(kBusy + 1));
    CHECK(h.Run(h.other, "RESET") == "+RESET");
    CHECK(h.process.shutdowns == 0);
    CHECK(h.Run(h.other, "SHUTDOWN NOSAVE").empty());
    CHECK(h.process.shutdowns == 1);
    CHECK(h.Run(h.other, "SCRIPT KILL") == "+OK");
  };
  CHECK(h.RunWhile("while true do end", act) == kKilled);
  CHECK(asked);
  CHECK_FALSE(h.state.services.script_busy);
  CHECK(h.Run(h.other, "GET k") == "\"1\"");
  CHECK(h.Run(h.other, "SCRIPT KILL") == kNotBusy);
}

TEST_CASE("busy script: it runs on, and its reply comes when it is done") {
  BusyHarness h;
  CHECK(h.RunWhile("local n = 0 for i = 1, 3e6 do n = n + 1 end return n", [] {}) == ":3000000");
  CHECK(h.served > 0);
  CHECK(h.Run({"EVAL", "return 1", "0"}) == ":1");
}

TEST_CASE("busy script: a short one serves nobody, and neither does one without a threshold") {
  BusyHarness h;
  CHECK(h.RunWhile("return 1", [] {}) == ":1");
  CHECK(h.served == 0);
  for (const int64_t threshold : {int64_t{0}, INT64_MAX}) {
    h.config.busy_reply_threshold = threshold;
    CHECK(h.RunWhile("for i = 1, 1e6 do end return 1", [] {}) == ":1");
    CHECK(h.served == 0);
  }
}

TEST_CASE("busy script: who speaks meanwhile is not taken for idle, who is silent is") {
  BusyHarness h;
  h.state.clock.MakeReal();
  const int64_t begin = h.state.clock.elapsed_ms();
  h.self->last_active_ms = h.other.last_active_ms = begin;
  Client& silent = *h.Connect();
  silent.last_active_ms = begin - 5000;
  CHECK(h.Kill("while true do end") == kKilled);
  CHECK(h.other.last_active_ms > begin);
  CHECK(silent.last_active_ms == begin - 5000);
}

TEST_CASE("busy script: one that has written is not killed") {
  BusyHarness h;
  int refused = 0;
  const auto act = [&] { refused += h.Run(h.other, "SCRIPT KILL") == kUnkillable ? 1 : 0; };
  CHECK(h.RunWhile("redis.call('set', 'k', 1) for i = 1, 3e6 do end return 'done'", act) ==
        "\"done\"");
  CHECK(refused > 0);
  CHECK(h.Effects() == Lines{"set k 1"});
}

TEST_CASE("busy script: nothing that it does keeps it alive") {
  BusyHarness h;
  const char* const scripts[] = {
      "while true do end",
      "while true do pcall(function() while true do end end) end",
      "local function f() while true do xpcall(f, function() while true do end end) end end f()",
      "while true do coroutine.wrap(function() pcall(function() while true do end end) end)() end",
      ("local function f() for i = 1, 50 do local c = coroutine.create(f) coroutine.resume(c) end "
       "end "
       "while true do f() end"),
      "while true do redis.pcall('get', 'k') end",
      "while true do local f = loadstring('while true do end') pcall(f) end",
      ("local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) "
       "while true do pcall(function() return t[1] end) end"),
      "return string.find(string.rep('a', 5000), string.rep('a*', 20) .. 'b')",
      "return string.match(string.rep('a', 1e6), '(.-)(.-)(.-)b')",
      "return string.gsub(string.rep('a', 1e5), '.-.-.-b', '')",
      "for w in string.gfind(string.rep('(', 1e6), '%b()') do end while true do end",
      "local t = {} for i = 1, 40 do t = {t, t} end return cjson.encode(t)",
  };
  for (const char* script : scripts) {
    INFO(script);
    CHECK(h.Kill(script) == kKilled);
  }
  h.config.busy_reply_threshold = 0;
  CHECK(h.Run({"EVAL", "for i = 1, 1e5 do end return 1", "0"}) == ":1");
}

TEST_CASE("busy script: killed in a transaction, it alone is ended") {
  BusyHarness h;
  h.process.serve_others = [&] {
    CHECK(h.Run(h.other, "SCRIPT KILL") == "+OK");
    return true;
  };
  h.Run("MULTI");
  h.Run("SET a 1");
  h.Run({"EVAL", "while true do end", "0"});
  h.Run("SET b 1");
  CHECK(h.Run("EXEC").starts_with(std::string("[+OK ") + kKilled));
  CHECK(h.Effects() == Lines{"SET a 1", "SET b 1"});
}

TEST_CASE("busy script: a server that ends gives it up, and what it did is not logged") {
  BusyHarness h;
  h.process.serve_others = [] { return false; };
  h.Run("SET before 1");
  h.Run({"EVAL", "redis.call('set', 'k', 1) while true do end", "0"});
  CHECK(h.self->finished());
  CHECK(h.Effects() == Lines{"SET before 1"});

  Client& another = *h.Connect();
  h.Run(another, "MULTI");
  h.Run(another, "SET a 1");
  h.Run(another, {"EVAL", "redis.call('set', 'k', 1) while true do end", "0"});
  h.Run(another, "SET b 1");
  h.Run(another, "EXEC");
  CHECK(another.finished());
  CHECK(h.Effects().empty());
  h.Run("SET after 1");
  CHECK(h.Effects() == Lines{"SET after 1"});
}

TEST_CASE("busy script: the bytes of the log that are of a block that has not ended") {
  BusyHarness h;
  size_t unfinished = 0;
  h.Run("SET before 1");
  h.RunWhile("redis.call('set', 'k', 1) for i = 1, 3e6 do end",
             [&] { unfinished = h.state.effects.unfinished_bytes(); });
  CHECK(unfinished == std::string_view("*3\r\n$3\r\nset\r\n$1\r\nk\r\n$1\r\n1\r\n").size());
  CHECK(h.state.effects.unfinished_bytes() == 0);
}

TEST_CASE("busy script: messages to its client wait for its reply") {
  BusyHarness h;
  h.Run("HELLO 3");
  h.Run("SUBSCRIBE news");
  h.process.serve_others = [&] {
    h.Run(h.other, "UNWATCH");  // another command begins and ends meanwhile
    return true;
  };
  const std::string reply = h.Wire(
      *h.self, {"EVAL", "for i = 1, 3e6 do end redis.call('publish', 'news', 'x') return 7", "0"});
  CHECK(reply == ":7\r\n>3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$1\r\nx\r\n");
}

}  // namespace tally::server::script_watch_test
