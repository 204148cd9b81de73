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

CycleReading ReadBoth() {
  CycleReading reading;
  reading.before_ns = SteadyNanos();
  reading.cycles = Cycles();
  reading.after_ns = SteadyNanos();
  return reading;
}

CycleReading Narrowest(absl::FunctionRef<CycleReading()> read) {
  constexpr int kReadings = 16;
  CycleReading best = read();
  for (int i = 1; i < kReadings; ++i) {
    const CycleReading next = read();
    if (next.width_ns() < best.width_ns()) best = next;
  }
  return best;
}

struct CycleClock {
  double micros_per_cycle = CyclesAreTrusted() ? MicrosPerCycle(ReadBoth) : 0;
  uint64_t start = Cycles();
};

}  // namespace

double MicrosPerCycle(absl::FunctionRef<CycleReading()> read) {
  constexpr int64_t kLeastNanos = 1'000'000;
  constexpr int64_t kMostNanos = 100'000'000;
  constexpr int64_t kPrecision = 100;
  const CycleReading first = Narrowest(read);
  while (true) {
    const CycleReading last = Narrowest(read);
    // The counter was read somewhere between the two times of each reading.
    const int64_t nanos = last.before_ns - first.before_ns;
    const int64_t uncertain_ns = first.width_ns() + last.width_ns();
    const bool is_right = nanos >= kLeastNanos && uncertain_ns * kPrecision <= nanos;
    if (is_right && last.cycles > first.cycles) {
      return static_cast<double>(nanos) / 1000 / static_cast<double>(last.cycles - first.cycles);
    }
    if (nanos > kMostNanos) return 0;
  }
}

int64_t CycleMicros() {
  static const CycleClock clock;
  if (clock.micros_per_cycle == 0) return SteadyNanos() / 1000;
  // Signed, because a signed number becomes a double in one instruction.
  const auto cycles = static_cast<int64_t>(Cycles() - clock.start);
  return static_cast<int64_t>(static_cast<double>(cycles) * clock.micros_per_cycle);
}

}  // namespace tally::server
