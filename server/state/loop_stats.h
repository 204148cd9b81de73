// Measures how long the turns of the event loop take, part by part, and keeps the longest recent
// turn.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/state/stats.h"

namespace tally::server {

// The parts of a turn, in their order.
enum class TurnPart : uint8_t {
  kEvents,    // new connections and timers
  kCommands,  // requests are read and run
  kLoading,
  kUpkeep,  // expiry, eviction and freeing
  kLog,     // the log is written and synced; a rewrite gets its slice
  kReplies,
};
inline constexpr size_t kTurnParts = 6;
std::string_view NameOf(TurnPart part);

// Times are in microseconds.
struct Turn {
  int64_t micros = 0;
  int64_t ended_ms = 0;  // unix ms
  std::array<int64_t, kTurnParts> parts{};
  uint64_t commands = 0;
  size_t slowest = 0;  // id of the command that took longest, if commands > 0
  int64_t slowest_micros = 0;

  // The part that took longest.
  TurnPart main_part() const;
};

class LoopStats {
 public:
  // `now_us` is of CycleMicros and must not go back.
  void BeginTurn(int64_t now_us);
  // Counts the time since the last call, or since BeginTurn, as time of this part.
  void EndPart(TurnPart part, int64_t now_us) {
    turn_.parts[static_cast<size_t>(part)] += now_us - part_begin_us_;
    part_begin_us_ = now_us;
  }
  // Counts a command of this turn. `id` is its id in the command table.
  void NoteCommand(size_t id, int64_t micros) {
    ++turn_.commands;
    if (micros < turn_.slowest_micros) return;
    turn_.slowest_micros = micros;
    turn_.slowest = id;
  }
  // Called after the last part. `ended_ms` is in unix ms.
  void EndTurn(int64_t ended_ms);

  uint64_t turns() const { return durations_.count(); }
  uint64_t micros() const { return micros_; }
  uint64_t micros(TurnPart part) const { return by_part_[static_cast<size_t>(part)]; }
  const DurationHistogram& durations() const { return durations_; }
  // Returns the longest turn of the last minute; its `micros` is 0 if there was none. Works in
  // steps of ten seconds: a turn is forgotten 50 to 60 s after it has ended.
  Turn Longest(int64_t now_us) const;
  // Forgets all turns that have ended. The turn under way is still measured.
  void Reset();

 private:
  // The longest turn that ended in one step of ten seconds.
  struct Step {
    int64_t number = -1;
    Turn longest;
  };
  static constexpr int64_t kStepMicros = 10'000'000;
  static constexpr size_t kSteps = 6;

  Turn turn_;
  int64_t begin_us_ = 0;
  int64_t part_begin_us_ = 0;
  uint64_t micros_ = 0;
  std::array<uint64_t, kTurnParts> by_part_{};
  DurationHistogram durations_;
  std::array<Step, kSteps> steps_;
};

}  // namespace tally::server
