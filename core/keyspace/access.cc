#include "core/keyspace/access.h"

#include <algorithm>

namespace tally {
namespace {

constexpr uint32_t kNewKeysFrequency = 5;
constexpr uint32_t kMaxFrequency = 255;
constexpr uint32_t kMinuteMask = 0xFFFF;
constexpr int64_t kMinuteMs = 60'000;

uint32_t Minute(int64_t now) { return static_cast<uint32_t>(now / kMinuteMs) & kMinuteMask; }

uint32_t FrequencyMark(int64_t now, uint32_t frequency) { return Minute(now) << 8 | frequency; }

}  // namespace

uint32_t IdleSeconds(uint32_t mark, int64_t now) { return (TimeMark(now) - mark) & kAccessMask; }

uint32_t NewFrequencyMark(int64_t now) { return FrequencyMark(now, kNewKeysFrequency); }

uint32_t FrequencyOf(uint32_t mark, const AccessTracking& tracking, int64_t now) {
  const uint32_t frequency = mark & 0xFF;
  if (tracking.decay_minutes == 0) return frequency;
  const int64_t idle_minutes = (Minute(now) - (mark >> 8)) & kMinuteMask;
  const int64_t periods = idle_minutes / tracking.decay_minutes;
  return frequency - static_cast<uint32_t>(std::min<int64_t>(periods, frequency));
}

uint32_t UsedFrequencyMark(uint32_t mark, const AccessTracking& tracking, int64_t now,
                           uint64_t random) {
  uint32_t frequency = FrequencyOf(mark, tracking, now);
  if (frequency < kMaxFrequency) {
    const uint32_t above_new = frequency - std::min(frequency, kNewKeysFrequency);
    const double chance =
        1 / (static_cast<double>(above_new) * static_cast<double>(tracking.log_factor) + 1);
    constexpr double kTwoTo53 = 9007199254740992.0;
    if (static_cast<double>(random >> 11) < chance * kTwoTo53) ++frequency;
  }
  return FrequencyMark(now, frequency);
}

}  // namespace tally
