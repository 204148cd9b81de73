// The access mark of a key: 24 bits that say when the key was last used, or how often.
//
// By time, the mark is the unix second of the last use, modulo 2^24 (194 days). By frequency, its
// upper 16 bits are the unix minute of the last use, modulo 2^16, and its lower 8 bits are a
// logarithmic counter. The counter starts at 5 for a new key, grows at a use with a probability
// that falls as it grows, and loses 1 for each period without use. Both schemes are Redis's.
#pragma once

#include <cstdint>

namespace tally {

inline constexpr uint32_t kAccessMask = 0xFFFFFF;

// How the marks of a keyspace are kept.
struct AccessTracking {
  bool by_frequency = false;
  // How slowly a counter grows: at 10 about a million uses saturate it.
  int64_t log_factor = 10;
  // A counter loses 1 for each of this many minutes without use; 0: never.
  int64_t decay_minutes = 1;
  // By how much the clock was set forward since the start, or back below 0. Marks go by the time
  // that has passed: else a key that was used before a step back would seem unused for months.
  int64_t set_by_ms = 0;

  int64_t Passed(int64_t unix_ms) const { return unix_ms - set_by_ms; }
};

// `now_ms` is AccessTracking::Passed; `random` is a uniformly distributed 64-bit number.
inline uint32_t TimeMark(int64_t now_ms) {
  return static_cast<uint32_t>(now_ms / 1000) & kAccessMask;
}
uint32_t IdleSeconds(uint32_t mark, int64_t now_ms);
uint32_t NewFrequencyMark(int64_t now_ms);
uint32_t UsedFrequencyMark(uint32_t mark, const AccessTracking& tracking, int64_t now_ms,
                           uint64_t random);
// The counter of a mark by frequency at `now_ms`, without what it has lost since its last use.
uint32_t FrequencyOf(uint32_t mark, const AccessTracking& tracking, int64_t now_ms);

}  // namespace tally
