#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::observation_commands_test {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("slowlog: the newest first") {
  CommandHarness h;
  h.config.slowlog_log_slower_than = -1;
  CHECK(h.Run("SLOWLOG GET") == "[]");
  const std::vector<std::string_view> first = {"SET", "a", "1"};
  const std::vector<std::string_view> second = {"GET", "a"};
  h.self->name = "bob";
  h.state.slowlog.Add(*h.self, first, 100, 20, 128);
  h.state.slowlog.Add(*h.self, second, 101, 30, 128);
  const std::string newest = "[:1 :101 :30 [\"GET\" \"a\"] \"127.0.0.1:50001\" \"bob\"]";
  const std::string oldest = "[:0 :100 :20 [\"SET\" \"a\" \"1\"] \"127.0.0.1:50001\" \"bob\"]";
  CHECK(h.Run("SLOWLOG LEN") == ":2");
  CHECK(h.Run("SLOWLOG GET") == "[" + newest + " " + oldest + "]");
  CHECK(h.Run("SLOWLOG GET -1") == "[" + newest + " " + oldest + "]");
  CHECK(h.Run("SLOWLOG GET 1") == "[" + newest + "]");
  CHECK(h.Run("SLOWLOG GET 0") == "[]");
  CHECK(h.Run("SLOWLOG GET -2") == "-ERR count should be greater than or equal to -1");
  CHECK(h.Run("SLOWLOG GET x") == "-ERR count should be greater than or equal to -1");
  CHECK(h.Run("SLOWLOG RESET") == "+OK");
  CHECK(h.Run("SLOWLOG LEN") == ":0");
}

TEST_CASE("slowlog: ten entries unless more are asked for; passwords never") {
  CommandHarness h;
  h.config.slowlog_log_slower_than = 0;
  for (int i = 0; i < 12; ++i) h.Run("PING");
  h.Run("AUTH default secret");
  h.Run("CONFIG SET requirepass secret");
  CHECK(h.Wire(*h.self, {"SLOWLOG", "GET"}).rfind("*10\r\n", 0) == 0);
  h.Run("ACL SETUSER ann >secret");
  CHECK_FALSE(Has(h.Run("SLOWLOG GET -1"), "secret"));
  CHECK(Has(h.Run("SLOWLOG GET -1"), "[\"CONFIG\" \"SET\" \"requirepass\" \"(redacted)\"]"));
  CHECK(Has(h.Run("SLOWLOG GET -1"), "[\"ACL\" \"SETUSER\" \"(redacted)\" \"(redacted)\"]"));
}

TEST_CASE("latency: events, their history and their end") {
  CommandHarness h;
  CHECK(h.Run("LATENCY LATEST") == "[]");
  CHECK(h.Run("LATENCY HISTORY command") == "[]");
  h.state.latency.Add("command", 100, 30);
  h.state.latency.Add("command", 101, 20);
  h.state.latency.Add("fork", 100, 5);
  CHECK(h.Run("LATENCY LATEST") == "[[\"command\" :101 :20 :30] [\"fork\" :100 :5 :5]]");
  CHECK(h.Run("LATENCY HISTORY command") == "[[:100 :30] [:101 :20]]");
  CHECK(h.Run("LATENCY RESET fork none") == ":1");
  CHECK(h.Run("LATENCY LATEST") == "[[\"command\" :101 :20 :30]]");
  CHECK(h.Run("LATENCY RESET") == ":1");
  CHECK(h.Run("LATENCY RESET") == ":0");
}

TEST_CASE("latency: the doctor") {
  CommandHarness h;
  CHECK(Has(h.Run("LATENCY DOCTOR"), "Latency monitoring is disabled."));
  h.config.latency_monitor_threshold = INT64_MAX;
  h.Run("PING");
  CHECK(h.Run("LATENCY LATEST") == "[]");
  h.config.latency_monitor_threshold = 10;
  CHECK(Has(h.Run("LATENCY DOCTOR"), "No latency spike was observed"));
  h.state.latency.Add("command", 100, 30);
  h.state.latency.Add("command", 101, 20);
  CHECK(Has(h.Run("LATENCY DOCTOR"),
            "1. command: 2 latency spikes (average 25ms, mean deviation 5ms). Worst all time "
            "event 30ms."));
}

TEST_CASE("latency: histograms of commands that were called") {
  CommandHarness h;
  CHECK(h.Run("LATENCY HISTOGRAM get") == "[]");
  CommandStats& stats = h.state.stats.by_command[h.commands.Find("get")->id];
  stats.calls = 4;
  for (const uint64_t micros : {1, 2, 100, 100}) stats.durations.Add(micros);
  CHECK(h.Run("LATENCY HISTOGRAM get foo") ==
        "[\"get\" [\"calls\" :4 \"histogram_usec\" [:1 :1 :2 :2 :128 :4]]]");
  h.self->reply.set_protocol(3);
  CHECK(h.Run("LATENCY HISTOGRAM get") ==
        "{\"get\" {\"calls\" :4 \"histogram_usec\" {:1 :1 :2 :2 :128 :4}}}");
  h.Run("CLIENT ID");
  CHECK(Has(h.Run("LATENCY HISTOGRAM client"), "\"client|id\" {\"calls\" :1 "));
  CHECK(Has(h.Run("LATENCY HISTOGRAM"), "\"client|id\" {\"calls\" :1 "));
}

TEST_CASE("histogram: cumulative steps reach the number of durations") {
  DurationHistogram durations;
  CHECK(durations.CumulativeByPowers().empty());
  CHECK(durations.Cumulative().empty());
  uint64_t added = 0;
  for (uint64_t micros = 0; micros < uint64_t{1} << 50; micros = micros * 3 + 1) {
    durations.Add(micros);
    ++added;
  }
  for (const auto& steps : {durations.CumulativeByPowers(), durations.Cumulative()}) {
    CHECK(steps.back().second == added);
    for (size_t i = 1; i < steps.size(); ++i) {
      CHECK(steps[i].first > steps[i - 1].first);
      CHECK(steps[i].second > steps[i - 1].second);
    }
  }
  CHECK(durations.Cumulative().back().first == durations.Percentile(1));
}

TEST_CASE("histogram: more calls than 32 bits count") {
  constexpr uint64_t kMany = uint64_t{1} << 33;
  DurationHistogram durations;
  durations.Add(1, kMany);
  durations.Add(100, kMany / 100);
  CHECK(durations.Percentile(0.5) == 1);
  CHECK(durations.CumulativeByPowers().front().second == kMany);
}

TEST_CASE("memory: usage grows with the key and its value") {
  CommandHarness h;
  CHECK(h.Run("MEMORY USAGE none") == "nil");
  h.Run("SET a 1");
  CHECK(h.Run("MEMORY USAGE a") == ":24");
  h.Run("SET b 1 EX 10");
  CHECK(h.Run("MEMORY USAGE b") == ":32");
  h.Run({"SET", "c", std::string(1000, 'x')});
  const std::string usage = h.Run("MEMORY USAGE c SAMPLES 0").substr(1);
  CHECK(std::stoi(usage) > 1000);
  CHECK(std::stoi(usage) < 1200);
  CHECK(h.Run("MEMORY USAGE a SAMPLES x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("MEMORY USAGE a SAMPLES -1") == "-ERR syntax error");
  CHECK(h.Run("MEMORY USAGE a foo") == "-ERR syntax error");
}

TEST_CASE("memory: stats, doctor and purge") {
  CommandHarness h;
  h.Run("SET a 1");
  h.self->reply.set_protocol(3);
  const std::string stats = h.Run("MEMORY STATS");
  CHECK(stats.rfind("{\"peak.allocated\" :", 0) == 0);
  CHECK(Has(stats, " \"keys.count\" :1 "));
  CHECK(Has(stats, " \"db.0\" {\"overhead.hashtable.main\" :"));
  CHECK(Has(stats, " \"peak.percentage\" ,"));
  CHECK(h.Run("MEMORY DOCTOR").rfind("txt:\"", 0) == 0);
  CHECK(h.Run("MEMORY PURGE") == "+OK");
}

TEST_CASE("debug: only with enable-debug-command") {
  CommandHarness h;
  CHECK(h.Run("DEBUG SLEEP 0").rfind("-ERR DEBUG command not allowed. If the", 0) == 0);
  h.config.enable_debug_command = LocalAccess::kLocal;
  CHECK(h.Run("DEBUG SLEEP 0") == "+OK");
  h.self->address = "[::1]:1";
  CHECK(h.Run("DEBUG SLEEP 0") == "+OK");
  h.self->address = "10.0.0.1:50000";
  CHECK(h.Run("DEBUG SLEEP 0").rfind("-ERR DEBUG command not allowed.", 0) == 0);
  h.config.enable_debug_command = LocalAccess::kYes;
  CHECK(h.Run("DEBUG SLEEP 0") == "+OK");
  CHECK(h.Run("DEBUG foo") ==
        "-ERR unknown subcommand or wrong number of arguments for 'foo'. Try DEBUG HELP.");
  CHECK(h.Run("DEBUG SLEEP") ==
        "-ERR unknown subcommand or wrong number of arguments for 'SLEEP'. Try DEBUG HELP.");
}

TEST_CASE("debug: the clock") {
  CommandHarness h;
  h.config.enable_debug_command = LocalAccess::kYes;
  CHECK(h.Run("DEBUG CLOCK SET 1000000") == "+OK");
  CHECK(h.Run("TIME") == "[\"1000\" \"0\"]");
  h.Run("SET a 1 PX 500");
  CHECK(h.Run("debug clock advance 499ms") == "+OK");
  CHECK(h.Run("GET a") == "\"1\"");
  CHECK(h.Run("DEBUG CLOCK ADVANCE 1ms") == "+OK");
  CHECK(h.Run("GET a") == "nil");
  CHECK(h.Run("DEBUG CLOCK ADVANCE 30d") == "+OK");
  CHECK(h.Run("TIME") == "[\"2593000\" \"500000\"]");
  CHECK(h.Run("DEBUG CLOCK ADVANCE x") ==
        "-ERR ADVANCE takes a duration, as 500ms, 5s, 10m, 24h or 7d");
  CHECK(h.Run("DEBUG CLOCK ADVANCE 253402300799") == "-ERR the clock's time is out of range");
  CHECK(h.Run("DEBUG CLOCK SET -1") == "-ERR the clock's time is out of range");
  CHECK(h.Run("DEBUG CLOCK SET") ==
        "-ERR unknown subcommand or wrong number of arguments for 'CLOCK'. Try DEBUG HELP.");
  CHECK(h.Run("DEBUG CLOCK REAL") == "+OK");
  CHECK(h.now() > CommandHarness::kBegin);
}

TEST_CASE("debug: expiry, reload and objects") {
  CommandHarness h;
  h.config.enable_debug_command = LocalAccess::kYes;
  CHECK(h.Run("DEBUG SET-ACTIVE-EXPIRE 0") == "+OK");
  CHECK_FALSE(h.state.services.active_expire);
  CHECK(h.Run("DEBUG SET-ACTIVE-EXPIRE 1") == "+OK");
  CHECK(h.state.services.active_expire);
  CHECK(h.Run("DEBUG RELOAD") == "+OK");
  CHECK(h.Run("DEBUG LOADAOF") == "+OK");
  CHECK(h.persistence.reloads == 2);
  CHECK(h.Run("DEBUG OBJECT a") == "-ERR no such key");
  h.Run("SET a 12");
  CHECK(h.Run("DEBUG OBJECT a")
            .rfind("+Value type:string refcount:1 encoding:int bytes:24 access:", 0) == 0);
}

}  // namespace tally::server::observation_commands_test
