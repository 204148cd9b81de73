// The server's clock: read once a turn. Tests with windows of days can set it.
#pragma once

#include <cstdint>
#include <optional>

namespace tally::server {

class Clock {
 public:
  // Reads the system's clock, unless the clock is set. Call once at the begin of a turn.
  void Tick();

  // Unix ms and us of this turn.
  int64_t now_ms() const { return now_ms_; }
  int64_t now_us() const { return now_us_; }
  // Microseconds of the system's monotonic clock, for deadlines and durations. Each call reads it.
  static int64_t MonotonicMicros();
  // The same in ms, for what must not change when somebody sets a clock, such as how long data has
  // waited for the disk.
  int64_t steady_ms() const { return set_steady_ms_.value_or(MonotonicMicros() / 1000); }
  // For simulations: steady_ms() stays at `ms` from now on.
  void SetSteady(int64_t ms) { set_steady_ms_ = ms; }

  // Stops the clock at `unix_ms` until it is advanced or made real again.
  void Set(int64_t unix_ms);
  // Moves a clock that is set by `ms`; stops a real clock at its time plus `ms`. Returns false if
  // the time would overflow.
  bool Advance(int64_t ms);
  void MakeReal();

 private:
  void SetMicros(int64_t us) {
    now_us_ = us;
    now_ms_ = us / 1000;
  }

  bool real_ = true;
  int64_t now_us_ = 0;
  int64_t now_ms_ = 0;  // now_us_ in ms, because every command asks for it
  std::optional<int64_t> set_steady_ms_;
};

}  // namespace tally::server
