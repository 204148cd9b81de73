// A timer of the event loop, by the monotonic clock.
#pragma once

#include <chrono>
#include <functional>

#include "server/net/event_poller.h"

namespace tally::server {

class Timer final : private EventTarget {
 public:
  // `on_expiry` is called in the turn in which the timer has expired, once, however often it has
  // expired before that turn.
  Timer(EventPoller& poller, std::function<void()> on_expiry);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  // Both replace what was set before; the durations are above 0.
  void ExpireAfter(std::chrono::microseconds delay);
  void ExpireEvery(std::chrono::microseconds interval);

 private:
  void OnEvent(DescriptorEvent event) override;
  void Set(std::chrono::microseconds first, std::chrono::microseconds interval);

  const int descriptor_;
  const std::function<void()> on_expiry_;
};

}  // namespace tally::server
