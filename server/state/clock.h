// The server's clock: read once a turn. Tests with windows of days can set it. It is as exact as
// the turn is short: what a turn does has the instant of its begin. A turn reads it once, without
// a system call.
//
// The wall clock is not trusted. It is compared with a clock that nobody sets: what the wall clock
// is ahead or behind of the time that has really passed is a jump. That other clock is
// CLOCK_BOOTTIME, which goes on while the machine sleeps: then time has passed, and nobody has set
// a clock. A virtual machine whose host had stopped it counts as a jump, since its clocks cannot
// say what has happened.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/saturating.h"

namespace tally::server {

class Clock {
 public:
  // Jumps of more than 2 s since the start.
  struct Jumps {
    uint64_t count = 0;
    int64_t last_ms = 0;     // how far the last one went: forward above 0, back below 0
    int64_t last_at_ms = 0;  // what the clock showed after it, unix ms
  };

  // Reads the system's clock, unless the clock is set. Call once at the begin of a turn.
  void Tick();

  // Unix ms and us of this turn.
  int64_t now_ms() const { return now_ms_; }
  int64_t now_us() const { return now_us_; }
  // Ms that have passed since some instant, as of this turn: the wall clock without its jumps. For
  // how long ago something was, where a system call for each question would be too much. Exact to
  // a second, because smaller jumps are found only with the next comparison of the clocks.
  int64_t elapsed_ms() const { return elapsed_ms_; }
  // The system's clock at this moment, unix us, if the clock is not set: for scripts that wait by
  // it.
  int64_t ReadMicros() const;
  // Microseconds of the system's monotonic clock, for deadlines and durations. Each call reads it.
  static int64_t MonotonicMicros();
  // The same in ms, for what must not change when somebody sets a clock, such as how long data has
  // waited for the disk.
  int64_t steady_ms() const { return set_steady_ms_.value_or(MonotonicMicros() / 1000); }
  // For simulations: steady_ms() stays at `ms` from now on.
  void SetSteady(int64_t ms) { set_steady_ms_ = ms; }

  const Jumps& jumps() const { return jumps_; }
  // By how much data that is too old must outlive its time now: in the first minute after the clock
  // has jumped forward by more than an hour, that far; otherwise 0. If the clock is set back within
  // this minute, nothing is lost.
  int64_t deletion_lag_ms() const { return lag_us_ / 1000; }
  // Is called after a jump, and, with false, when the lag has changed without one.
  void set_watcher(std::function<void(bool jumped)> watcher) { watcher_ = std::move(watcher); }

  // Stops the clock at `unix_ms` until it is advanced or made real again. The clock jumps.
  void Set(int64_t unix_ms);
  // Moves a clock that is set by `ms`; stops a real clock at its time plus `ms`. Time passes, so
  // the clock does not jump. Returns false if the time would overflow.
  bool Advance(int64_t ms);
  // The clock jumps, if it was set.
  void MakeReal();

 private:
  void SetMicros(int64_t us) {
    now_us_ = us;
    now_ms_ = us / 1000;
    elapsed_ms_ = SaturatingSub(us, jumped_us_) / 1000;
  }
  // Sets the clock to `us`, when `passed_us` have passed since it was last compared.
  void Compare(int64_t us, int64_t passed_us);

  bool real_ = true;
  int64_t now_us_ = 0;
  // Both in ms, because every command asks for them.
  int64_t now_ms_ = 0;
  int64_t elapsed_ms_ = 0;
  std::optional<int64_t> set_steady_ms_;

  // The clocks when they were last compared; the second one is that of the system.
  int64_t compared_us_ = 0;
  int64_t compared_boot_us_ = 0;
  bool compared_ = false;
  Jumps jumps_;
  int64_t jumped_us_ = 0;  // all jumps together, also the small ones
  int64_t lag_us_ = 0;
  int64_t lag_left_us_ = 0;  // for so long the lag is kept
  std::function<void(bool jumped)> watcher_;
};

}  // namespace tally::server
