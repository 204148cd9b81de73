#include "server/state/loop_stats.h"

#include <algorithm>

namespace tally::server {

std::string_view NameOf(TurnPart part) {
  constexpr std::string_view kNames[kTurnParts] = {"events", "commands", "loading",
                                                   "upkeep", "log",      "replies"};
  return kNames[static_cast<size_t>(part)];
}

TurnPart Turn::main_part() const {
  return static_cast<TurnPart>(std::max_element(parts.begin(), parts.end()) - parts.begin());
}

void LoopStats::BeginTurn(int64_t now_us) {
  turn_ = {};
  begin_us_ = part_begin_us_ = now_us;
}

void LoopStats::EndTurn(int64_t ended_ms) {
  turn_.micros = part_begin_us_ - begin_us_;
  turn_.ended_ms = ended_ms;
  micros_ += static_cast<uint64_t>(turn_.micros);
  for (size_t i = 0; i < kTurnParts; ++i) by_part_[i] += static_cast<uint64_t>(turn_.parts[i]);
  durations_.Add(static_cast<uint64_t>(turn_.micros));
  const int64_t number = part_begin_us_ / kStepMicros;
  Step& step = steps_[static_cast<size_t>(number) % kSteps];
  if (step.number == number && step.longest.micros >= turn_.micros) return;
  step = {number, turn_};
}

Turn LoopStats::Longest(int64_t now_us) const {
  const int64_t last = now_us / kStepMicros;
  Turn longest;
  for (const Step& step : steps_) {
    const bool of_late = step.number >= 0 && step.number > last - static_cast<int64_t>(kSteps);
    if (of_late && step.longest.micros > longest.micros) longest = step.longest;
  }
  return longest;
}

void LoopStats::Reset() {
  micros_ = 0;
  by_part_ = {};
  durations_ = {};
  steps_ = {};
}

}  // namespace tally::server
