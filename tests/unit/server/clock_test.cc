// The server's clock, and how it tells that somebody has set the system's.
#include "server/state/clock.h"

#include <catch2/catch.hpp>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/command_harness.h"

namespace tally::server::clock_test {
namespace {

constexpr int64_t kNow = 1'795'569'600'000;
constexpr int64_t kHour = 3'600'000;

TEST_CASE("clock: setting it is a jump of more than 2 s, time that passes is none") {
  Clock clock;
  clock.Set(kNow);
  CHECK(clock.jumps().count == 0);
  REQUIRE(clock.Advance(400 * 24 * kHour));
  REQUIRE(clock.Advance(999));
  CHECK(clock.jumps().count == 0);
  const int64_t now = clock.now_ms();
  clock.Set(now + 2'000);
  clock.Set(now);
  CHECK(clock.jumps().count == 0);
  clock.Set(now + 2'001);
  CHECK(clock.jumps().count == 1);
  CHECK(clock.jumps().last_ms == 2'001);
  CHECK(clock.jumps().last_at_ms == now + 2'001);
  clock.Set(now - 5'000);
  CHECK(clock.jumps().count == 2);
  CHECK(clock.jumps().last_ms == -7'001);
}

TEST_CASE("clock: the system's clock is compared with the time that has passed") {
  Clock clock;
  clock.Tick();
  const int64_t now = clock.now_ms();
  CHECK(now > kNow - 400 * 24 * kHour);
  clock.Tick();
  CHECK(clock.jumps().count == 0);
  clock.Set(now - kHour);
  CHECK(clock.jumps().count == 1);
  // Back to the system's.
  clock.MakeReal();
  CHECK(clock.jumps().count == 2);
  CHECK(clock.jumps().last_ms >= kHour);
  clock.Tick();
  clock.MakeReal();
  CHECK(clock.jumps().count == 2);
}

TEST_CASE("clock: a minute after a jump of more than an hour, deletions follow it") {
  Clock clock;
  clock.Set(kNow);
  clock.Set(kNow + kHour);
  CHECK(clock.deletion_lag_ms() == 0);
  clock.Set(kNow);
  clock.Set(kNow + kHour + 1);
  CHECK(clock.deletion_lag_ms() == kHour + 1);
  // A second jump within the minute.
  REQUIRE(clock.Advance(30'000));
  clock.Set(clock.now_ms() + 10'000);
  CHECK(clock.deletion_lag_ms() == kHour + 10'001);
  SECTION("nobody sets it back") {
    REQUIRE(clock.Advance(29'999));
    CHECK(clock.deletion_lag_ms() == kHour + 10'001);
    REQUIRE(clock.Advance(1));
    CHECK(clock.deletion_lag_ms() == 0);
  }
  SECTION("it is set back") {
    clock.Set(kNow + 30'000);
    CHECK(clock.deletion_lag_ms() == 0);
  }
  SECTION("it is set back in part, and again") {
    clock.Set(kNow + 30'000 + kHour / 2);
    CHECK(clock.deletion_lag_ms() == kHour / 2);
    clock.Set(kNow - kHour);
    CHECK(clock.deletion_lag_ms() == 0);
    clock.Set(kNow - kHour + 5'000);
    CHECK(clock.deletion_lag_ms() == 0);
  }
}

TEST_CASE("clock: whoever watches hears of jumps, and of the end of a lag") {
  Clock clock;
  std::string heard;
  clock.Set(kNow);
  clock.set_watcher([&](bool jumped) {
    StrAppend(heard, jumped ? "jump " : "lag ", clock.deletion_lag_ms(), " ");
  });
  clock.Set(kNow + 3'000);
  clock.Set(kNow + 2 * kHour);
  REQUIRE(clock.Advance(59'999));
  REQUIRE(clock.Advance(1));
  REQUIRE(clock.Advance(kHour));
  CHECK(heard == "jump 0 jump 7197000 lag 0 ");
}

TEST_CASE("INFO and the metrics show the jumps of the clock") {
  CommandHarness h;
  h.Run("INFO server");
  CHECK(h.Run("INFO server").find("clock_jumps:0\\r\\nclock_last_jump_ms:0") != std::string::npos);
  h.state.clock.Set(h.now() - 90'000);
  CHECK(h.Run("INFO server")
            .find(StrCat("clock_jumps:1\\r\\nclock_last_jump_ms:-90000\\r\\n",
                         "clock_last_jump_at_ms:", h.now())) != std::string::npos);
}

}  // namespace
}  // namespace tally::server::clock_test
