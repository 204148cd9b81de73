// Finds the keys that take the most time and bytes, in a session of tracking that HOTKEYS starts
// and stops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/sketch/space_saving.h"
#include "server/command/command.h"

namespace tally::server {

class HotKeys {
 public:
  struct Options {
    bool cpu = false;
    bool net = false;
    size_t count = 10;        // how many keys each list shows
    int64_t duration_ms = 0;  // 0: until it is stopped
    uint64_t sample = 1;      // one call in this many is sampled, at random
  };
  // The CPU time of the whole process, in ms.
  struct CpuTime {
    int64_t user_ms = 0;
    int64_t system_ms = 0;
  };
  // What all calls have taken since Start, sampled or not.
  struct Totals {
    uint64_t micros = 0;
    uint64_t bytes = 0;
  };

  // The number of names that each sketch holds. Both sketches together take less than 200 KiB, from
  // the first sampled call until Reset.
  static constexpr size_t kNames = 512;

  explicit HotKeys(uint64_t seed) : seed_(seed), random_(seed) {}

  // Starts a session and forgets the results of an earlier one. Requires !active(). `unix_ms` is
  // only shown. Other times are in Clock::elapsed_ms, because a session lasts no longer where the
  // clock is set back.
  void Start(const Options& options, int64_t unix_ms, int64_t now_ms, const CpuTime& cpu);
  void Stop(int64_t now_ms);
  // Forgets the session and frees its memory.
  void Reset();
  // Ends the session if its duration is over. Must be called before the state or the results are
  // read.
  void StopIfDue(int64_t now_ms);

  bool active() const { return active_; }
  // Whether there is, or was, a session to show.
  bool started() const { return unix_ms_ != 0; }
  // Counts a call that has ended: its time, and the bytes of its arguments and its reply. They are
  // divided evenly among its keys.
  void Note(const Command& command, Args args, uint64_t micros, uint64_t reply_bytes,
            int64_t now_ms);

  const Options& options() const { return options_; }
  const Totals& totals() const { return totals_; }
  int64_t started_unix_ms() const { return unix_ms_; }
  int64_t duration_ms(int64_t now_ms) const {
    return (active_ ? now_ms : stopped_ms_) - started_ms_;
  }
  const CpuTime& cpu_at_start() const { return cpu_at_start_; }
  // The heaviest keys first, at most options().count; their counts are multiplied by
  // options().sample.
  std::vector<SpaceSaving::Counter> ByMicros() const { return Top(by_micros_); }
  std::vector<SpaceSaving::Counter> ByBytes() const { return Top(by_bytes_); }
  size_t MemoryBytes() const { return by_micros_.MemoryBytes() + by_bytes_.MemoryBytes(); }

 private:
  std::vector<SpaceSaving::Counter> Top(const SpaceSaving& sketch) const;

  uint64_t seed_;
  std::mt19937_64 random_;
  bool active_ = false;
  Options options_;
  int64_t unix_ms_ = 0;  // when the session began; 0: there is none
  int64_t started_ms_ = 0;
  int64_t stopped_ms_ = 0;
  CpuTime cpu_at_start_;
  Totals totals_;
  SpaceSaving by_micros_{kNames};
  SpaceSaving by_bytes_{kNames};
  std::vector<KeyReference> keys_;  // of one call
};

}  // namespace tally::server
