#include "server/state/clock.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/saturating.h"

namespace tally::server {
namespace {

constexpr int64_t kSecondUs = 1'000'000;  // in us, as all here
// Within it the clocks need not be compared: a jump of more than kJump leaves it.
constexpr int64_t kCompareEveryUs = kSecondUs;
constexpr int64_t kJumpUs = 2 * kSecondUs;
constexpr int64_t kLargeJumpUs = 3'600 * kSecondUs;
constexpr int64_t kLagKeptUs = 60 * kSecondUs;

int64_t WallMicros() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count();
}

int64_t BootMicros() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * kSecondUs + time.tv_nsec / 1000;
}

}  // namespace

void Clock::Tick() {
  if (!real_) return;
  const int64_t us = WallMicros();
  const int64_t since_us = us - compared_us_;
  if (since_us >= 0 && since_us < kCompareEveryUs) [[likely]]
    return SetMicros(us);
  const int64_t boot_us = BootMicros();
  if (!compared_) {
    // The first reading: nothing to compare with.
    compared_ = true;
    compared_us_ = us;
    SetMicros(us);
  } else {
    Compare(us, boot_us - compared_boot_us_);
  }
  compared_boot_us_ = boot_us;
}

int64_t Clock::ReadMicros() const { return real_ ? WallMicros() : now_us_; }

void Clock::Compare(int64_t us, int64_t passed_us) {
  const int64_t old_lag_us = lag_us_;
  lag_left_us_ -= std::clamp<int64_t>(passed_us, 0, lag_left_us_);
  if (lag_left_us_ == 0) lag_us_ = 0;
  const int64_t jump_us = SaturatingSub(us, compared_us_ + passed_us);
  jumped_us_ = SaturatingAdd(jumped_us_, jump_us);
  compared_us_ = us;
  SetMicros(us);
  const bool jumped = jump_us > kJumpUs || jump_us < -kJumpUs;
  if (jumped) {
    ++jumps_.count;
    jumps_.last_ms = jump_us / 1000;
    jumps_.last_at_ms = now_ms_;
    if (jump_us > kLargeJumpUs) lag_left_us_ = kLagKeptUs;
    if (lag_left_us_ > 0) lag_us_ = std::max<int64_t>(0, SaturatingAdd(lag_us_, jump_us));
    if (lag_us_ == 0) lag_left_us_ = 0;
  }
  if (watcher_ && (jumped || lag_us_ != old_lag_us)) watcher_(jumped);
}

int64_t Clock::MonotonicMicros() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_start).count();
}

void Clock::Set(int64_t unix_ms) {
  real_ = false;
  if (!std::exchange(compared_, true)) {
    // A clock that was never read has shown nothing that this could be a jump from.
    compared_us_ = unix_ms * 1000;
    SetMicros(compared_us_);
  } else {
    Compare(unix_ms * 1000, now_us_ - compared_us_);
  }
}

bool Clock::Advance(int64_t ms) {
  int64_t us = 0;
  if (__builtin_mul_overflow(ms, 1000, &us) || __builtin_add_overflow(now_us_, us, &us)) {
    return false;
  }
  real_ = false;
  compared_ = true;
  Compare(us, us - compared_us_);
  return true;
}

void Clock::MakeReal() {
  if (std::exchange(real_, true)) return;
  Compare(WallMicros(), now_us_ - compared_us_);
  compared_boot_us_ = BootMicros();
}

}  // namespace tally::server
