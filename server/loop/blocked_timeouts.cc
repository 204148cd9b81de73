#include "server/loop/blocked_timeouts.h"

#include <algorithm>
#include <chrono>

#include "server/state/blocked_clients.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

// A turn ends this many waits; the rest follow in the next turns.
constexpr int kMostAtOnce = 1000;
// The timer is never set for longer.
constexpr int64_t kLongestMs = 3'600'000;

}  // namespace

// Only for an earlier deadline: the timer of a client that was served meanwhile expires for
// nothing, which costs less than to set it for each command.
void BlockedTimeouts::Schedule() {
  const int64_t next_ms = server_.blocked.next_deadline_ms();
  if (next_ms >= set_for_ms_) return;
  const int64_t now_ms = server_.clock.steady_ms();
  const int64_t delay_ms = std::clamp<int64_t>(next_ms - now_ms, 0, kLongestMs);
  timer_.ExpireAfter(std::max(std::chrono::microseconds(1),
                              std::chrono::microseconds(std::chrono::milliseconds(delay_ms))));
  set_for_ms_ = next_ms;
}

void BlockedTimeouts::Expire() {
  set_for_ms_ = INT64_MAX;
  const int64_t now_ms = server_.clock.steady_ms();
  for (int i = 0; i < kMostAtOnce; ++i) {
    Client* const client = server_.blocked.FirstDue(now_ms);
    if (client == nullptr) return;
    dispatcher_.TimeOut(*client);
  }
}

}  // namespace tally::server
