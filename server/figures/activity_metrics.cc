// Metrics of what the server does: turns of the event loop, decisions, commands.
#include <array>

#include "core/engine/decisions.h"
#include "core/engine/engine.h"
#include "core/limit/rule_text.h"
#include "server/command/command_table.h"
#include "server/figures/metric_groups.h"
#include "server/state/cycle_clock.h"
#include "server/state/loop_stats.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

void WriteDurations(std::initializer_list<MetricsWriter::Label> labels,
                    const DurationHistogram& durations, uint64_t sum_micros,
                    MetricsWriter& writer) {
  std::array<uint64_t, kDurationBounds.size()> counts{};
  durations.CountsBelow(kDurationBounds, counts);
  writer.Durations(labels, kDurationBounds, counts, durations.count(), sum_micros);
}

void WriteCounts(std::string_view label, std::string_view value, const DecisionCount& count,
                 MetricsWriter& writer) {
  writer.Sample({{label, value}, {"decision", "allowed"}}, count.allowed);
  writer.Sample({{label, value}, {"decision", "denied"}}, count.denied);
  writer.Sample({{label, value}, {"decision", "shadow-denied"}}, count.shadow_denied);
}

template <typename Visit>
void ForEachCalled(const Services& server, Visit&& visit) {
  for (const CommandEntry& item : server.commands.entries()) {
    const CommandStats& stats = server.stats.by_command[item.id];
    if (stats.calls > 0 || stats.rejected > 0) visit(item, stats);
  }
}

}  // namespace

void WriteLoopMetrics(const Services& server, MetricsWriter& writer) {
  const LoopStats& loop = server.loop;
  writer.Histogram("tallyd_loop_turn_seconds", "How long turns of the event loop took.");
  WriteDurations({}, loop.durations(), loop.micros(), writer);
  writer.Counter("tallyd_loop_part_seconds", "What the parts of turns took.");
  for (size_t i = 0; i < kTurnParts; ++i) {
    const auto part = static_cast<TurnPart>(i);
    writer.Seconds({{"part", NameOf(part)}}, loop.micros(part));
  }
  const Turn longest = loop.Longest(CycleMicros());
  writer.Gauge("tallyd_loop_longest_turn_seconds",
               "The longest turn of the last minute, by its parts.");
  for (size_t i = 0; i < kTurnParts; ++i) {
    const auto part = static_cast<TurnPart>(i);
    writer.Seconds({{"part", NameOf(part)}}, static_cast<uint64_t>(longest.parts[i]));
  }
}

void WriteDecisionMetrics(const Services& server, MetricsWriter& writer) {
  const Decisions& decisions = server.engine.decisions();
  writer.Counter("tallyd_decisions", "Decisions by the command that asked.");
  for (size_t i = 0; i < Decisions::kCommands; ++i) {
    const auto command = static_cast<Decisions::Command>(i);
    WriteCounts("command", NameOf(command), decisions.by_command(command), writer);
  }
  writer.Counter("tallyd_limit_algorithm_decisions", "Decisions by the algorithm of a rule.");
  for (size_t i = 1; i < kLimitAlgorithms; ++i) {
    const auto algorithm = static_cast<LimitAlgorithm>(i);
    WriteCounts("algorithm", NameOf(algorithm), decisions.by_algorithm(algorithm), writer);
  }
  writer.Counter("tallyd_limit_policy_decisions", "Decisions by policy.");
  server.engine.policies().ForEachTally(
      [&](const PolicyTally& tally) { WriteCounts("policy", tally.name, tally.count, writer); });
  const Decisions::HoldCount& holds = decisions.holds();
  writer.Counter("tallyd_limit_holds", "What became of holds; those made are reserved.");
  writer.Sample({{"event", "reserved"}}, holds.reserved);
  writer.Sample({{"event", "committed"}}, holds.committed);
  writer.Sample({{"event", "cancelled"}}, holds.cancelled);
  writer.Sample({{"event", "ended"}}, holds.ended);
  writer.Gauge("tallyd_limit_policies", "Policies that are set.");
  writer.Sample(server.engine.policies().size());
}

// Commands that nobody has called have no samples.
void WriteCommandMetrics(const Services& server, MetricsWriter& writer) {
  writer.Histogram("tallyd_command_duration_seconds", "How long calls took, by command.");
  ForEachCalled(server, [&](const CommandEntry& item, const CommandStats& stats) {
    WriteDurations({{"command", item.full_name}}, stats.durations, stats.micros, writer);
  });
  writer.Counter("tallyd_command_errors", "Calls that replied an error, and that were not run.");
  ForEachCalled(server, [&](const CommandEntry& item, const CommandStats& stats) {
    writer.Sample({{"command", item.full_name}, {"kind", "failed"}}, stats.failed);
    writer.Sample({{"command", item.full_name}, {"kind", "rejected"}}, stats.rejected);
  });
  writer.Counter("tallyd_commands", "Calls of all commands.");
  writer.Sample(server.stats.commands_processed);
}

}  // namespace tally::server
