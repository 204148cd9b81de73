#include "server/state/loop_stats.h"

#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::loop_stats_test {
namespace {

// A turn that begins at `begin_us` and spends these on commands and replies.
void AddTurn(LoopStats& loop, int64_t begin_us, int64_t commands_us, int64_t replies_us) {
  loop.BeginTurn(begin_us);
  loop.EndPart(TurnPart::kCommands, begin_us + commands_us);
  loop.EndPart(TurnPart::kReplies, begin_us + commands_us + replies_us);
  loop.EndTurn(begin_us / 1000);
}

TEST_CASE("loop stats: turns are the sum of their parts") {
  LoopStats loop;
  AddTurn(loop, 1'000'000, 30, 12);
  AddTurn(loop, 1'000'100, 5, 50);
  CHECK(loop.turns() == 2);
  CHECK(loop.micros() == 97);
  CHECK(loop.micros(TurnPart::kCommands) == 35);
  CHECK(loop.micros(TurnPart::kReplies) == 62);
  CHECK(loop.micros(TurnPart::kLog) == 0);
  const Turn longest = loop.Longest(1'000'200);
  CHECK(longest.micros == 55);
  CHECK(longest.main_part() == TurnPart::kReplies);
  loop.Reset();
  CHECK(loop.turns() == 0);
  CHECK(loop.Longest(1'000'200).micros == 0);
}

TEST_CASE("loop stats: the longest turn is forgotten within a minute, and says what it did") {
  LoopStats loop;
  loop.BeginTurn(0);
  loop.NoteCommand(7, 900);
  loop.NoteCommand(3, 50);
  loop.EndPart(TurnPart::kCommands, 1000);
  loop.EndTurn(123);
  AddTurn(loop, 30'000'000, 400, 0);
  AddTurn(loop, 40'000'000, 300, 0);
  Turn longest = loop.Longest(59'999'999);
  CHECK(longest.micros == 1000);
  CHECK(longest.ended_ms == 123);
  CHECK(longest.commands == 2);
  CHECK(longest.slowest == 7);
  CHECK(longest.slowest_micros == 900);
  CHECK(loop.Longest(60'000'000).micros == 400);
  CHECK(loop.Longest(90'000'000).micros == 300);
  CHECK(loop.Longest(100'000'000).micros == 0);
  AddTurn(loop, 90'000'000, 10, 0);  // in the place of the step of 30 s
  CHECK(loop.Longest(90'000'010).micros == 300);
}

TEST_CASE("loop stats: INFO eventloop and limits say what was counted") {
  CommandHarness h;
  h.Run("POLICY.SET a,b=c FIXED 1 60s");
  h.Run("LIMIT.TAKE k POLICY a,b=c");
  h.Run("LIMIT.TAKE k POLICY a,b=c");
  h.Run("LIMIT.PEEK k POLICY a,b=c");
  const std::string limits = h.Run("INFO limits");
  CHECK(limits.find("decisions_limit.take:allowed=1,denied=1,shadow_denied=0\\r\\n") !=
        std::string::npos);
  CHECK(limits.find("algorithm_fixed:allowed=1,denied=1,shadow_denied=0\\r\\n") !=
        std::string::npos);
  CHECK(limits.find("policy_0:allowed=1,denied=1,shadow_denied=0,name=a\\\\x2cb\\\\x3dc\\r\\n") !=
        std::string::npos);
  AddTurn(h.state.loop, 1'000'000, 30, 12);
  const std::string loop = h.Run("INFO eventloop");
  CHECK(loop.find("eventloop_cycles:1\\r\\n") != std::string::npos);
  CHECK(loop.find("eventloop_duration_sum:42\\r\\n") != std::string::npos);
  CHECK(loop.find("eventloop_duration_cmd_sum:30\\r\\n") != std::string::npos);
  CHECK(h.Run("INFO").find("eventloop") == std::string::npos);
  CHECK(h.Run("CONFIG RESETSTAT") == "+OK");
  CHECK(h.Run("INFO eventloop").find("eventloop_cycles:0\\r\\n") != std::string::npos);
}

}  // namespace
}  // namespace tally::server::loop_stats_test
