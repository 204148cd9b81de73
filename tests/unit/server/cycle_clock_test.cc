#include "server/state/cycle_clock.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace tally::server {

TEST_CASE("the cycle clock keeps pace with the monotonic clock, and never goes back") {
  CycleMicros();  // calibrates itself
  using std::chrono::steady_clock;
  const auto begin = steady_clock::now();
  const int64_t cycle_begin = CycleMicros();
  int64_t last = cycle_begin;
  int64_t expected = 0;
  while (expected < 50'000) {
    const int64_t micros = CycleMicros();
    REQUIRE(micros >= last);
    last = micros;
    expected =
        std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - begin).count();
  }
  const int64_t measured = CycleMicros() - cycle_begin;
  CHECK(measured >= expected - expected / 100);
  CHECK(measured < expected * 2);  // it may have been interrupted between the two
}

}  // namespace tally::server
