// The text of GET /metrics: its two forms, what it counts, and that no label can break it.
#include "server/figures/metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "server/command_harness.h"
#include "server/http_peer.h"

namespace tally::server::metrics_test {
namespace {

std::string Text(CommandHarness& h, MetricsFormat format = MetricsFormat::kText) {
  return RenderMetrics(h.state.services, format);
}

// Samples by their names with labels.
std::map<std::string, std::string> Samples(const std::string& text) {
  std::map<std::string, std::string> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const size_t blank = line.rfind(' ');
    REQUIRE(blank != std::string::npos);
    const auto [known, fresh] = samples.emplace(line.substr(0, blank), line.substr(blank + 1));
    INFO(line);
    REQUIRE(fresh);
  }
  return samples;
}

TEST_CASE("metrics: what was done is counted under names that are bounded", "[metrics]") {
  CommandHarness h;
  h.Run("POLICY.SET login FIXED 1 60s");
  h.Run("LIMIT.TAKE secret:k POLICY login");
  h.Run("LIMIT.TAKE secret:k POLICY login");
  h.Run("SET secret:s 1 EX 100");
  h.Run("GET secret:none");
  h.Run("INCR secret:k");
  h.Run("QUOTA.SETLIMIT secret:b 1 0 1 30d");
  h.Run("ACTIVE.TOUCH secret:a ann");
  const std::string text = Text(h);
  auto samples = Samples(text);
  CHECK(samples["tallyd_decisions_total{command=\"limit.take\",decision=\"denied\"}"] == "1");
  CHECK(samples["tallyd_limit_policy_decisions_total{policy=\"login\",decision=\"allowed\"}"] ==
        "1");
  CHECK(
      samples["tallyd_limit_algorithm_decisions_total{algorithm=\"fixed\",decision=\"denied\"}"] ==
      "1");
  CHECK(samples["tallyd_keys{type=\"limit\"}"] == "1");
  CHECK(samples["tallyd_keys{type=\"string\"}"] == "1");
  CHECK(samples["tallyd_quota_books"] == "1");
  CHECK(samples["tallyd_audiences"] == "1");
  CHECK(samples["tallyd_database_expiring_keys{database=\"0\"}"] == "2");
  CHECK(samples["tallyd_lookups_total{result=\"miss\"}"] == "1");
  CHECK(samples["tallyd_command_duration_seconds_count{command=\"limit.take\"}"] == "2");
  CHECK(samples["tallyd_command_duration_seconds_bucket{command=\"limit.take\",le=\"+Inf\"}"] ==
        "2");
  CHECK(samples["tallyd_command_errors_total{command=\"incr\",kind=\"failed\"}"] == "1");
  CHECK(text.find("secret") == std::string::npos);
  CHECK_FALSE(samples.contains("tallyd_command_duration_seconds_count{command=\"append\"}"));
}

TEST_CASE("metrics: jumps of the system's clock are counted", "[metrics]") {
  CommandHarness h;
  CHECK(Samples(Text(h))["tallyd_clock_jumps_total"] == "0");
  h.state.clock.Set(h.now() - 90'000);
  CHECK(Samples(Text(h))["tallyd_clock_jumps_total"] == "1");
}

TEST_CASE("metrics: buckets of durations rise to the count", "[metrics]") {
  CommandHarness h;
  Stats& stats = h.state.stats;
  const size_t id = h.commands.FindFullName("get")->id;
  for (const uint64_t micros : {0, 3, 4, 5, 1023, 1024, 5'000'000}) {
    stats.by_command[id].durations.Add(micros);
    stats.by_command[id].micros += micros;
    ++stats.by_command[id].calls;
  }
  auto samples = Samples(Text(h));
  const auto bucket = [&](const std::string& le) {
    return samples["tallyd_command_duration_seconds_bucket{command=\"get\",le=\"" + le + "\"}"];
  };
  CHECK(bucket("0.000004") == "2");
  CHECK(bucket("0.000008") == "4");
  CHECK(bucket("0.001024") == "5");
  CHECK(bucket("0.004096") == "6");
  CHECK(bucket("1.048576") == "6");
  CHECK(bucket("+Inf") == "7");
  CHECK(samples["tallyd_command_duration_seconds_sum{command=\"get\"}"] == "5.002059");
}

TEST_CASE("metrics: OpenMetrics names counters without a suffix, and says where it ends",
          "[metrics]") {
  CommandHarness h;
  h.Run("PING");
  const std::string open = Text(h, MetricsFormat::kOpenMetrics);
  const std::string text = Text(h);
  CHECK(open.ends_with("\n# EOF\n"));
  CHECK(open.find("# EOF") == open.size() - 6);
  CHECK(text.find("# EOF") == std::string::npos);
  CHECK(open.find("# TYPE tallyd_commands counter\ntallyd_commands_total 1\n") !=
        std::string::npos);
  CHECK(text.find("# TYPE tallyd_commands_total counter\ntallyd_commands_total 1\n") !=
        std::string::npos);
  CHECK(Samples(open).size() == Samples(text).size());
  // Each family is introduced once.
  std::set<std::string> families;
  std::istringstream lines(open);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE")) REQUIRE(families.insert(line).second);
  }
}

TEST_CASE("metrics: a policy may have any name", "[metrics]") {
  CommandHarness h;
  const std::string names[] = {"a\"b",     "a\\x22b",   "a\nb",   "a\\nb",
                               "\xff\xfe", "größe",     "a} 1\n", std::string("\0", 1),
                               "other",    "{le=\"1\"}"};
  for (const std::string& name : names) {
    REQUIRE(h.Run({"POLICY.SET", name, "DENY"}) == "+OK");
    h.Run({"LIMIT.TAKE", "k", "POLICY", name});
  }
  const std::string text = Text(h);
  const auto samples = Samples(text);
  size_t policies = 0;
  for (const auto& [name, value] : samples) {
    if (!name.starts_with("tallyd_limit_policy_decisions_total{")) continue;
    if (name.find("\"denied\"") == std::string::npos) continue;
    CHECK(value == "1");
    // Three pairs of quotes would end in another label.
    CHECK(std::count(name.begin(), name.end(), '"') == 4);
    ++policies;
  }
  CHECK(policies == std::size(names));
}

TEST_CASE("metrics: 2,000 policies are at most 1,001 labels", "[metrics]") {
  CommandHarness h;
  for (int i = 0; i < 2000; ++i) h.Run({"POLICY.SET", StrCat("p", i), "DENY"});
  h.Run("LIMIT.TAKE k POLICY p1999");
  const auto samples = Samples(Text(h));
  CHECK(samples.at("tallyd_limit_policy_decisions_total{policy=\"other\",decision=\"denied\"}") ==
        "1");
  CHECK(std::count_if(samples.begin(), samples.end(), [](const auto& sample) {
          return sample.first.starts_with("tallyd_limit_policy_decisions_total");
        }) == 3 * 1001);
}

TEST_CASE("metrics: 65,536 databases are at most 101 labels", "[metrics]") {
  Config config;
  config.databases = 65536;
  CommandHarness h(config);
  const auto of_databases = [&](std::string_view family) {
    std::map<std::string, std::string> found;
    for (const auto& [name, value] : Samples(Text(h))) {
      if (name.starts_with(StrCat(family, "{"))) found.emplace(name, value);
    }
    return found;
  };
  CHECK(of_databases("tallyd_database_keys").empty());
  for (int i = 1; i <= 100; ++i) {
    h.Run({"SELECT", StrCat(i)});
    h.Run("SET k 1");
  }
  CHECK(of_databases("tallyd_database_keys").size() == 100);
  CHECK(of_databases("tallyd_database_keys").contains("tallyd_database_keys{database=\"100\"}"));
  for (const std::string_view database : {"65535", "200"}) {
    h.Run({"SELECT", std::string(database)});
    h.Run("MSET a 1 b 2");
    h.Run("SET c 1 EX 100");
  }
  auto keys = of_databases("tallyd_database_keys");
  CHECK(keys.size() == 101);
  CHECK(keys["tallyd_database_keys{database=\"1\"}"] == "1");
  CHECK(keys["tallyd_database_keys{database=\"other\"}"] == "6");
  auto expiring = of_databases("tallyd_database_expiring_keys");
  CHECK(expiring.size() == 101);
  CHECK(expiring["tallyd_database_expiring_keys{database=\"1\"}"] == "0");
  CHECK(expiring["tallyd_database_expiring_keys{database=\"other\"}"] == "2");
}

TEST_CASE("metrics: over HTTP in the form that is accepted, for those who may read INFO",
          "[metrics]") {
  CommandHarness h;
  HttpPeer peer(h);
  const auto plain = peer.Ask("GET /metrics");
  CHECK(plain.status == 200);
  CHECK(plain.Header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
  const auto open =
      peer.Ask("GET /metrics",
               "Host: localhost\r\nAccept: application/openmetrics-text;version=1.0.0;"
               "q=0.75,text/plain;version=0.0.4;q=0.5\r\n");
  CHECK(open.Header("Content-Type") ==
        "application/openmetrics-text; version=1.0.0; charset=utf-8");
  CHECK(open.body.ends_with("# EOF\n"));
  h.Run("ACL SETUSER ann on >pw +get ~*");
  CHECK(peer.Ask("GET /metrics", "Host: localhost\r\nAuthorization: Basic YW5uOnB3\r\n").status ==
        403);
}

}  // namespace
}  // namespace tally::server::metrics_test
