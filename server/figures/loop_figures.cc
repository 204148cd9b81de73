// Figures of the turns of the event loop.
#include "core/bytes/str_cat.h"
#include "server/command/command_table.h"
#include "server/figures/figure_list.h"
#include "server/state/cycle_clock.h"
#include "server/state/loop_stats.h"

namespace tally::server {
namespace {

void ReportLongestTurn(const Services& server, FigureSink& figures) {
  const Turn longest = server.loop.Longest(CycleMicros());
  figures.Add("eventloop_longest_usec", longest.micros, {.json = "turns.longest_us"});
  std::string parts;
  for (size_t i = 0; i < kTurnParts; ++i) {
    const std::string_view part = NameOf(static_cast<TurnPart>(i));
    figures.Add("", Micros{longest.parts[i]},
                {.metric = "loop_longest_turn_seconds", .labels = {part}});
    StrAppend(parts, i == 0 ? "" : ",", part, "=", longest.parts[i]);
  }
  if (longest.micros == 0) return;
  const TurnPart part = longest.main_part();
  figures.Add("eventloop_longest_ended_ms", longest.ended_ms, {.json = "turns.longest_ended_ms"});
  figures.Add("eventloop_longest_part", NameOf(part), {.json = "turns.longest_part"});
  figures.Add("eventloop_longest_parts_usec", parts);
  figures.Add("", longest.parts[static_cast<size_t>(part)], {.json = "turns.longest_part_us"});
  figures.Add("eventloop_longest_commands", longest.commands);
  if (longest.commands == 0) return;
  figures.Add("eventloop_longest_slowest_command",
              server.commands.entries()[longest.slowest].full_name,
              {.json = "turns.slowest_command"});
  figures.Add("eventloop_longest_slowest_command_usec", longest.slowest_micros,
              {.json = "turns.slowest_command_us"});
}

}  // namespace

void ReportEventLoop(const Services& server, FigureSink& figures) {
  const LoopStats& loop = server.loop;
  figures.Add("eventloop_cycles", loop.turns());
  figures.Add("eventloop_duration_sum", loop.micros());
  figures.Add("", Durations{&loop.durations(), loop.micros()}, {.metric = "loop_turn_seconds"});
  figures.Add("eventloop_duration_cmd_sum", loop.micros(TurnPart::kCommands));
  for (size_t i = 0; i < kTurnParts; ++i) {
    const auto part = static_cast<TurnPart>(i);
    figures.Add(StrCat("eventloop_usec_", NameOf(part)),
                Micros{static_cast<int64_t>(loop.micros(part))},
                {.metric = "loop_part_seconds", .labels = {NameOf(part)}});
  }
  figures.Add("eventloop_usec_p50", loop.durations().Percentile(0.5));
  figures.Add("eventloop_usec_p99", loop.durations().Percentile(0.99));
  figures.Add("eventloop_usec_p99.9", loop.durations().Percentile(0.999));
  ReportLongestTurn(server, figures);
}

}  // namespace tally::server
