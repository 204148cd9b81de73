// INFO's sections about decisions of limits and about turns of the event loop.
#include "core/bytes/printable.h"
#include "core/engine/decisions.h"
#include "core/engine/engine.h"
#include "core/limit/rule_text.h"
#include "server/command/command_table.h"
#include "server/figures/info_rows.h"
#include "server/state/cycle_clock.h"
#include "server/state/loop_stats.h"

namespace tally::server {
namespace {

std::string CountText(const DecisionCount& count) {
  return StrCat("allowed=", count.allowed, ",denied=", count.denied,
                ",shadow_denied=", count.shadow_denied);
}

void AddLongestTurn(const Services& server, InfoRows& rows) {
  const Turn longest = server.loop.Longest(CycleMicros());
  rows.Row("eventloop_longest_usec", longest.micros);
  if (longest.micros == 0) return;
  rows.Row("eventloop_longest_ended_ms", longest.ended_ms);
  rows.Row("eventloop_longest_part", NameOf(longest.main_part()));
  std::string parts;
  for (size_t i = 0; i < kTurnParts; ++i) {
    StrAppend(parts, i == 0 ? "" : ",", NameOf(static_cast<TurnPart>(i)), "=", longest.parts[i]);
  }
  rows.Row("eventloop_longest_parts_usec", parts);
  rows.Row("eventloop_longest_commands", longest.commands);
  if (longest.commands == 0) return;
  rows.Row("eventloop_longest_slowest_command",
           server.commands.entries()[longest.slowest].full_name);
  rows.Row("eventloop_longest_slowest_command_usec", longest.slowest_micros);
}

}  // namespace

void AddLimitsRows(const Services& server, InfoRows& rows) {
  const Decisions& decisions = server.engine.decisions();
  for (size_t i = 0; i < Decisions::kCommands; ++i) {
    const auto command = static_cast<Decisions::Command>(i);
    rows.Row(StrCat("decisions_", NameOf(command)), CountText(decisions.by_command(command)));
  }
  for (size_t i = 1; i < kLimitAlgorithms; ++i) {
    const auto algorithm = static_cast<LimitAlgorithm>(i);
    rows.Row(StrCat("algorithm_", NameOf(algorithm)), CountText(decisions.by_algorithm(algorithm)));
  }
  const Decisions::HoldCount& holds = decisions.holds();
  rows.Row("holds", StrCat("reserved=", holds.reserved, ",committed=", holds.committed,
                           ",cancelled=", holds.cancelled, ",ended=", holds.ended));
  rows.Row("policies", server.engine.policies().size());
  rows.Row("policies_digest", server.engine.policies().DigestText());
  size_t number = 0;
  server.engine.policies().ForEachTally([&](const PolicyTally& tally) {
    rows.Row(StrCat("policy_", number++),
             StrCat(CountText(tally.count), ",name=", Printable(tally.name, ",=")));
  });
  rows.Row("denials_bytes", decisions.denials().MemoryBytes());
}

void AddEventLoopRows(const Services& server, InfoRows& rows) {
  const LoopStats& loop = server.loop;
  rows.Row("eventloop_cycles", loop.turns());
  rows.Row("eventloop_duration_sum", loop.micros());
  rows.Row("eventloop_duration_cmd_sum", loop.micros(TurnPart::kCommands));
  for (size_t i = 0; i < kTurnParts; ++i) {
    const auto part = static_cast<TurnPart>(i);
    rows.Row(StrCat("eventloop_usec_", NameOf(part)), loop.micros(part));
  }
  rows.Row("eventloop_usec_p50", loop.durations().Percentile(0.5));
  rows.Row("eventloop_usec_p99", loop.durations().Percentile(0.99));
  rows.Row("eventloop_usec_p99.9", loop.durations().Percentile(0.999));
  AddLongestTurn(server, rows);
}

}  // namespace tally::server
