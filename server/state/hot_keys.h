// Which keys take the most time and bytes: a session of tracking, as HOTKEYS starts and stops it.
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
    size_t count = 10;        // how many are shown of each
    int64_t duration_ms = 0;  // 0: until it is stopped
    uint64_t sample = 1;      // one call in this many is looked at, chosen by chance
  };
  // Of the whole process, in ms.
  struct CpuTime {
    int64_t user_ms = 0;
    int64_t system_ms = 0;
  };
  // What all calls have taken since the start, looked at or not.
  struct Totals {
    uint64_t micros = 0;
    uint64_t bytes = 0;
  };

  // Both sketches together take less than 200 KiB, from the first call that is looked at until
  // Reset.
  static constexpr size_t kNames = 512;

  explicit HotKeys(uint64_t seed) : seed_(seed), random_(seed) {}

  // Times in unix ms. Requires !active(); what an earlier session has left is forgotten.
  void Start(const Options& options, int64_t now_ms, const CpuTime& cpu);
  void Stop(int64_t now_ms);
  // Gives back the memory.
  void Reset();
  // A session may end by its duration: to be called before the rest is asked for.
  void StopIfDue(int64_t now_ms);

  bool active() const { return active_; }
  // Whether there is, or was, a session to show.
  bool started() const { return started_ms_ != 0; }
  // A call that is over, with the bytes of its arguments and of its reply. Its keys share what it
  // has taken.
  void Note(const Command& command, Args args, uint64_t micros, uint64_t reply_bytes,
            int64_t now_ms);

  const Options& options() const { return options_; }
  const Totals& totals() const { return totals_; }
  int64_t started_ms() const { return started_ms_; }
  int64_t duration_ms(int64_t now_ms) const {
    return (active_ ? now_ms : stopped_ms_) - started_ms_;
  }
  const CpuTime& cpu_at_start() const { return cpu_at_start_; }
  // The heaviest first, at most options().count, and scaled up by the sample.
  std::vector<SpaceSaving::Item> ByMicros() const { return Top(by_micros_); }
  std::vector<SpaceSaving::Item> ByBytes() const { return Top(by_bytes_); }
  size_t MemoryBytes() const { return by_micros_.MemoryBytes() + by_bytes_.MemoryBytes(); }

 private:
  std::vector<SpaceSaving::Item> Top(const SpaceSaving& sketch) const;

  uint64_t seed_;
  std::mt19937_64 random_;
  bool active_ = false;
  Options options_;
  int64_t started_ms_ = 0;
  int64_t stopped_ms_ = 0;
  CpuTime cpu_at_start_;
  Totals totals_;
  SpaceSaving by_micros_{kNames};
  SpaceSaving by_bytes_{kNames};
  std::vector<KeyReference> keys_;  // of one call
};

}  // namespace tally::server
