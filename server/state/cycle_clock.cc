#include "server/state/cycle_clock.h"

#include <chrono>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tally::server {
namespace {

using std::chrono::steady_clock;

int64_t SteadyNanos() {
  const auto since_start = steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count();
}

#if defined(__x86_64__)
uint64_t Cycles() { return __rdtsc(); }

// Whether the kernel trusts the counter: it then rises at one rate on all processors, also while
// they sleep.
bool CyclesAreTrusted() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return file >> name && name == "tsc";
}
#else
uint64_t Cycles() { return 0; }

bool CyclesAreTrusted() { return false; }
#endif

// Compares both clocks for a millisecond. Returns 0 if the counter is not trusted.
double MicrosPerCycle() {
  constexpr int64_t kCalibrationNanos = 1'000'000;
  if (!CyclesAreTrusted()) return 0;
  const int64_t begin = SteadyNanos();
  const uint64_t cycles = Cycles();
  int64_t end = begin;
  while (end - begin < kCalibrationNanos) end = SteadyNanos();
  return static_cast<double>(end - begin) / 1000 / static_cast<double>(Cycles() - cycles);
}

struct CycleClock {
  double micros_per_cycle = MicrosPerCycle();
  uint64_t start = Cycles();
};

}  // namespace

int64_t CycleMicros() {
  static const CycleClock clock;
  if (clock.micros_per_cycle == 0) return SteadyNanos() / 1000;
  // Signed, because a signed number becomes a double in one instruction.
  const auto cycles = static_cast<int64_t>(Cycles() - clock.start);
  return static_cast<int64_t>(static_cast<double>(cycles) * clock.micros_per_cycle);
}

}  // namespace tally::server
