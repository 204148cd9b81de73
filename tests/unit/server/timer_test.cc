#include "server/net/timer.h"

#include <poll.h>

#include <catch2/catch.hpp>
#include <chrono>

namespace tally::server::timer_test {
namespace {

using std::chrono::microseconds;

constexpr auto kNever = std::chrono::hours(24 * 365);

struct CountingTimer {
  EventPoller poller;
  int calls = 0;
  Timer timer{poller, [this] { ++calls; }};
};

}  // namespace

TEST_CASE("timer: is called once after its delay, and not before it is set") {
  CountingTimer t;
  t.poller.Poll(true);
  CHECK(t.calls == 0);
  t.timer.ExpireAfter(microseconds(1));
  t.poller.Poll(false);  // waits for the timer
  CHECK(t.calls == 1);
  t.poller.Poll(true);
  CHECK(t.calls == 1);
}

TEST_CASE("timer: one that repeats is called once a turn, however often it has expired before") {
  CountingTimer t;
  t.timer.ExpireEvery(microseconds(1));
  for (int turn = 1; turn <= 3; ++turn) {
    ::poll(nullptr, 0, 2);  // many intervals
    t.poller.Poll(false);
    CHECK(t.calls == turn);
  }
}

TEST_CASE("timer: a new setting replaces the old one") {
  CountingTimer t;
  t.timer.ExpireAfter(microseconds(1));
  t.timer.ExpireAfter(kNever);
  ::poll(nullptr, 0, 2);
  t.poller.Poll(true);
  CHECK(t.calls == 0);
  t.timer.ExpireEvery(microseconds(1));
  t.poller.Poll(false);
  t.timer.ExpireEvery(kNever);
  const int calls = t.calls;
  t.poller.Poll(true);
  CHECK(t.calls == calls);
}

TEST_CASE("timer: a delay of seconds and a part is set as it is") {
  CountingTimer t;
  t.timer.ExpireAfter(microseconds(3'600'000'001));
  t.poller.Poll(true);
  CHECK(t.calls == 0);
}

}  // namespace tally::server::timer_test
