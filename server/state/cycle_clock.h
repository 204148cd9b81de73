// A clock for durations that costs less to read than the clock of the system.
#pragma once

#include <cstdint>

namespace tally::server {

// Microseconds since some instant in the past; never goes back. Reads the processor's time stamp
// counter where the kernel itself uses it as its clock (12 ns instead of 30), and the monotonic
// clock elsewhere. The first call calibrates it for a millisecond; it is right to 1 in 100.
int64_t CycleMicros();

}  // namespace tally::server
