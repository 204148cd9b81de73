// What the turns of the event loop take, part by part, and which was the longest of late.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/state/stats.h"

namespace tally::server {

// The parts of a turn, in their order.
enum class TurnPart : uint8_t {
  kEvents,    // new connections, and what is done by the clock
  kCommands,  // requests are read and run
  kLoading,
  kUpkeep,  // expiry, eviction and freeing
  kLog,     // the log is written and synced, a snapshot taken on
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
  size_t slowest = 0;  // the id of the command that took longest, if there was any
  int64_t slowest_micros = 0;

  // The part that took longest.
  TurnPart main_part() const;
};

class LoopStats {
 public:
  // `now_us` of CycleMicros, which must not go back.
  void BeginTurn(int64_t now_us);
  // What has been done since the last call was this part.
  void EndPart(TurnPart part, int64_t now_us) {
    turn_.parts[static_cast<size_t>(part)] += now_us - part_begin_us_;
    part_begin_us_ = now_us;
  }
  // A command of this turn, by its id in the table.
  void NoteCommand(size_t id, int64_t micros) {
    ++turn_.commands;
    if (micros < turn_.slowest_micros) return;
    turn_.slowest_micros = micros;
    turn_.slowest = id;
  }
  // After the last part; `ended_ms` in unix ms.
  void EndTurn(int64_t ended_ms);

  uint64_t turns() const { return durations_.count(); }
  uint64_t micros() const { return micros_; }
  uint64_t micros(TurnPart part) const { return by_part_[static_cast<size_t>(part)]; }
  const DurationHistogram& durations() const { return durations_; }
  // Of the last minute, to ten seconds: a turn is forgotten 50 to 60 s after it has ended. With
  // micros of 0 if there was none.
  Turn Longest(int64_t now_us) const;
  // The turn under way goes on.
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
