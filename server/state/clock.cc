#include "server/state/clock.h"

#include <chrono>

namespace tally::server {

void Clock::Tick() {
  if (!real_) return;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  SetMicros(std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count());
}

int64_t Clock::MonotonicMicros() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_start).count();
}

void Clock::Set(int64_t unix_ms) {
  real_ = false;
  SetMicros(unix_ms * 1000);
}

bool Clock::Advance(int64_t ms) {
  int64_t us = 0;
  if (__builtin_mul_overflow(ms, 1000, &us) || __builtin_add_overflow(now_us_, us, &us)) {
    return false;
  }
  real_ = false;
  SetMicros(us);
  return true;
}

void Clock::MakeReal() {
  real_ = true;
  Tick();
}

}  // namespace tally::server
