#include "core/keyspace/access.h"

#include <algorithm>

namespace tally {
namespace {

constexpr uint32_t kNewKeysFrequency = 5;
constexpr uint32_t kMaxFrequency = 255;
constexpr uint32_t kMinuteMask = 0xFFFF;
constexpr int64_t kMinuteMs = 60'000;

uint32_t Minute(int64_t now_ms) { return static_cast<uint32_t>(now_ms / kMinuteMs) & kMinuteMask; }

uint32_t FrequencyMark(int64_t now_ms, uint32_t frequency) {
  return Minute(now_ms) << 8 | frequency;
}

}  // namespace

uint32_t IdleSeconds(uint32_t mark, int64_t now_ms) {
  return (TimeMark(now_ms) - mark) & kAccessMask;
}

uint32_t NewFrequencyMark(int64_t now_ms) { return FrequencyMark(now_ms, kNewKeysFrequency); }

uint32_t FrequencyOf(uint32_t mark, const AccessTracking& tracking, int64_t now_ms) {
  const uint32_t frequency = mark & 0xFF;
  if (tracking.decay_minutes == 0) return frequency;
  const int64_t idle_minutes = (Minute(now_ms) - (mark >> 8)) & kMinuteMask;
  const int64_t periods = idle_minutes / tracking.decay_minutes;
  return frequency - static_cast<uint32_t>(std::min<int64_t>(periods, frequency));
}

uint32_t UsedFrequencyMark(uint32_t mark, const AccessTracking& tracking, int64_t now_ms,
                           uint64_t random) {
  uint32_t frequency = FrequencyOf(mark, tracking, now_ms);
  if (frequency < kMaxFrequency) {
    const uint32_t above_new = frequency - std::min(frequency, kNewKeysFrequency);
    const double chance =
        1 / (static_cast<double>(above_new) * static_cast<double>(tracking.log_factor) + 1);
    constexpr double kTwoTo53 = 9007199254740992.0;
    if (static_cast<double>(random >> 11) < chance * kTwoTo53) ++frequency;
  }
  return FrequencyMark(now_ms, frequency);
}

}  // namespace tally
