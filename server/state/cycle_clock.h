// A clock for the durations of commands and of the parts of a turn. It is read after each command,
// and costs half of what the clock of the system costs. What must not be wrong, such as a deadline,
// goes by Clock::MonotonicMicros.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstdint>

namespace tally::server {

// Microseconds since some instant in the past; never goes back. Reads the processor's time stamp
// counter where the kernel itself uses it as its clock, and the monotonic clock elsewhere. The
// first call calibrates it for a millisecond; it is right to 1 in 100.
int64_t CycleMicros();

// The counter, and what the monotonic clock showed just before and after it was read.
struct CycleReading {
  int64_t before_ns = 0;
  uint64_t cycles = 0;
  int64_t after_ns = 0;

  int64_t width_ns() const { return after_ns - before_ns; }
};

// Microseconds per cycle, right to 1 in 100. The process may be interrupted within a reading, which
// makes it wide: so the narrowest of several readings is used, and the time between the two that
// are compared is made a hundred times their widths. Returns 0 if that does not succeed.
double MicrosPerCycle(absl::FunctionRef<CycleReading()> read);

}  // namespace tally::server
