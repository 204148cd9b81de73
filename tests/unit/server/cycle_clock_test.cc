#include "server/state/cycle_clock.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <thread>

namespace tally::server::cycle_clock_test {
namespace {

constexpr double kMicrosPerCycle = 1.0 / 3000;  // of a counter with 3 GHz

// Two clocks that agree, and a process that is interrupted within their readings.
struct InterruptedReadings {
  std::function<int64_t(int reading)> interruption_ns;
  int64_t now_ns = 1'000'000'000'000;
  int readings = 0;

  CycleReading operator()() {
    CycleReading reading;
    reading.before_ns = now_ns;
    now_ns += 20;
    reading.cycles = static_cast<uint64_t>(now_ns) * 3;
    now_ns += 20 + interruption_ns(readings++);
    reading.after_ns = now_ns;
    return reading;
  }
};

double Calibrated(std::function<int64_t(int)> interruption_ns) {
  InterruptedReadings readings{std::move(interruption_ns)};
  return MicrosPerCycle([&] { return readings(); });
}

}  // namespace

TEST_CASE("the cycle clock is calibrated right to 1 in 100 however the process is interrupted") {
  const auto is_right = [](double rate) { return rate == Approx(kMicrosPerCycle).epsilon(0.01); };
  CHECK(is_right(Calibrated([](int) { return 0; })));
  // Each reading but one in ten, for longer than the calibration takes.
  CHECK(is_right(Calibrated([](int reading) { return reading % 10 == 5 ? 0 : 3'000'000; })));
  // The readings around one that is as long as a time slice, and all of them for a little.
  for (int at = 0; at < 40; ++at) {
    INFO(at);
    CHECK(is_right(Calibrated([at](int reading) { return reading == at ? 20'000'000 : 0; })));
    CHECK(is_right(Calibrated([at](int reading) { return reading < at ? 50'000 : 0; })));
  }
  // If there is no narrow reading at all, the counter is not used.
  CHECK(Calibrated([](int) { return 30'000'000; }) == 0);
}

TEST_CASE("the cycle clock keeps pace with the monotonic clock, and never goes back") {
  CycleMicros();  // calibrates itself
  using std::chrono::steady_clock;
  const auto micros_since = [](steady_clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - begin)
        .count();
  };
  // `inner` lies within the measured time and `outer` around it, so that an interruption between
  // two readings does not matter.
  const auto outer = steady_clock::now();
  const int64_t cycle_begin = CycleMicros();
  const auto inner = steady_clock::now();
  int64_t last = cycle_begin;
  while (micros_since(inner) < 50'000) {
    const int64_t micros = CycleMicros();
    REQUIRE(micros >= last);
    last = micros;
  }
  const int64_t least = micros_since(inner);
  const int64_t measured = CycleMicros() - cycle_begin;
  const int64_t most = micros_since(outer);
  CHECK(measured >= least - least / 100 - 1);
  CHECK(measured <= most + most / 100 + 1);
}

}  // namespace tally::server::cycle_clock_test
