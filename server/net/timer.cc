#include "server/net/timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "core/base/check.h"

namespace tally::server {
namespace {

timespec ToTimespec(std::chrono::microseconds duration) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(duration);
  const std::chrono::nanoseconds rest = duration - seconds;
  return {.tv_sec = static_cast<time_t>(seconds.count()),
          .tv_nsec = static_cast<long>(rest.count())};
}

}  // namespace

Timer::Timer(EventPoller& poller, std::function<void()> on_expiry)
    : descriptor_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
      on_expiry_(std::move(on_expiry)) {
  Check(descriptor_ >= 0 && poller.Watch(descriptor_, *this), "the kernel has a timer");
}

Timer::~Timer() { ::close(descriptor_); }

void Timer::ExpireAfter(std::chrono::microseconds delay) {
  Set(delay, std::chrono::microseconds(0));
}

void Timer::ExpireEvery(std::chrono::microseconds interval) { Set(interval, interval); }

void Timer::Set(std::chrono::microseconds first, std::chrono::microseconds interval) {
  const itimerspec setting{.it_interval = ToTimespec(interval), .it_value = ToTimespec(first)};
  Check(::timerfd_settime(descriptor_, 0, &setting, nullptr) == 0, "a timer can be set");
}

void Timer::OnEvent(DescriptorEvent) {
  uint64_t expirations = 0;
  if (::read(descriptor_, &expirations, sizeof(expirations)) > 0) on_expiry_();
}

}  // namespace tally::server
