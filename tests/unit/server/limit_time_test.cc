// LIMIT commands whose hits are late, and by a clock that was ahead.
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/server/command_harness.h"

namespace tally::server::limit_time_test {
namespace {

constexpr int64_t kBeginS = CommandHarness::kBegin / 1000;

bool Allowed(const std::string& reply) { return reply.starts_with("[:1 "); }

int Takes(CommandHarness& h, const std::string& take) {
  int taken = 0;
  while (taken < 20 && Allowed(h.Run(take))) ++taken;
  return taken;
}

}  // namespace

TEST_CASE("hits that are late are limited in their own time") {
  CommandHarness h;
  h.state.clock.Set(1'780'315'200'000);  // noon of the 1st of June 2026
  const auto at = [&](int64_t ms) { return StrCat(" AT ", h.now() + ms, "ms"); };
  for (const auto& [rule, late_ms] :
       std::vector<std::pair<std::string, int64_t>>{{"FIXED 5 10s", 11'000},
                                                    {"SLIDING 5 10s", 11'000},
                                                    {"CALENDAR 5 day", 86'400'000},
                                                    {"BUCKET 5 5 1s", 500},
                                                    {"ROLLING 5 10s", 11'000},
                                                    {"FIXED 5 10s", 3'600'000}}) {
    INFO(rule);
    h.Run("DEL k");
    CHECK(Takes(h, StrCat("LIMIT.TAKE k ", rule, at(-late_ms))) == 5);
    CHECK(h.Run("EXISTS k") == ":1");
  }
  // Older than max-lateness counts as that old; in a log it is so already.
  h.config.max_lateness_ms = 5'000;
  h.Effects();
  CHECK(Allowed(h.Run("LIMIT.TAKE m FIXED 1 1s AT 0")));
  CHECK(h.Effects()[0].find(StrCat(" AT ", h.now() / 1000 - 5, ".000 NOW ")) != std::string::npos);
  CHECK_FALSE(Allowed(h.Run("LIMIT.PEEK m FIXED 1 1s AT 0")));
  h.config.max_lateness_ms = 0;
  CHECK(Allowed(h.Run("LIMIT.PEEK m FIXED 1 1s AT 0")));
}

TEST_CASE("a clock that was ahead costs at most one period, whoever asks") {
  CommandHarness h;
  const int64_t ahead_ms = 400 * int64_t{86'400'000};
  h.state.clock.Set(h.now() + ahead_ms);
  const std::vector<std::string> rules = {"FIXED 1 60s",    "SLIDING 1 60s",     "ROLLING 1 60s",
                                          "BUCKET 1 1 60s", "CALENDAR 1 minute", "BASE 0 1 60s"};
  for (const std::string& rule : rules) CHECK(Allowed(h.Run("LIMIT.TAKE k " + rule)));
  h.Run("CL.THROTTLE t 0 1 60");
  h.state.clock.Set(h.now() - ahead_ms);
  h.Effects();
  CHECK(h.Run("CL.THROTTLE t 0 1 60") == "[:1 :1 :0 :60 :60]");
  CHECK(h.Effects() == std::vector<std::string>{
                           StrCat("LIMIT.TAKE t BUCKET 1 1 60000ms COST 0 AT ", kBeginS, ".000")});
  CHECK(h.Run("PTTL t") == ":60000");
  for (const std::string& rule : rules) {
    INFO(rule);
    CHECK_FALSE(Allowed(h.Run("LIMIT.PEEK k " + rule)));
    CHECK(h.Effects().empty());
    CHECK_FALSE(Allowed(h.Run("LIMIT.TAKE k " + rule)));
    CHECK(h.Effects() ==
          std::vector<std::string>{StrCat("LIMIT.TAKE k ", rule, " COST 0 AT ", kBeginS, ".000")});
    CHECK_FALSE(Allowed(h.Run("LIMIT.TAKE k " + rule)));
    CHECK(h.Effects().empty());
  }
  h.Advance(60'000);
  for (const std::string& rule : rules) CHECK(Allowed(h.Run("LIMIT.TAKE k " + rule)));
}

}  // namespace tally::server::limit_time_test
