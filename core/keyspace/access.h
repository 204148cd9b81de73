// What a key's 24 bits of access mark say: when it was last used, or how often.
//
// By time the mark is a second, modulo 2^24 (194 days). By frequency it is a minute, modulo 2^16,
// over a logarithmic counter of 8 bits that new keys begin at 5, that grows with a probability that
// falls as it grows, and that is decremented for each period without use: both are Redis's.
#pragma once

#include <cstdint>

namespace tally {

inline constexpr uint32_t kAccessMask = 0xFFFFFF;

// How the marks of a keyspace are kept.
struct AccessTracking {
  bool by_frequency = false;
  // How slowly a counter grows: at 10 about a million uses saturate it.
  int64_t log_factor = 10;
  // Minutes without use that take 1 off a counter; 0: never.
  int64_t decay_minutes = 1;
};

// `now` is unix ms, `random` any number that is uniform in 64 bits.
inline uint32_t TimeMark(int64_t now) { return static_cast<uint32_t>(now / 1000) & kAccessMask; }
uint32_t IdleSeconds(uint32_t mark, int64_t now);
uint32_t NewFrequencyMark(int64_t now);
uint32_t UsedFrequencyMark(uint32_t mark, const AccessTracking& tracking, int64_t now,
                           uint64_t random);
// The counter as it is by now.
uint32_t FrequencyOf(uint32_t mark, const AccessTracking& tracking, int64_t now);

}  // namespace tally
