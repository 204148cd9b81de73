#include "server/net/event_poller.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/check.h"

namespace tally::server {

EventPoller::EventPoller() : descriptor_(::epoll_create1(EPOLL_CLOEXEC)) {
  Check(descriptor_ >= 0, "the kernel has a descriptor for the set of events");
}

EventPoller::~EventPoller() { ::close(descriptor_); }

bool EventPoller::Control(int operation, int descriptor, uint32_t events, EventTarget& target) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &target;
  return ::epoll_ctl(descriptor_, operation, descriptor, &event) == 0;
}

bool EventPoller::WatchEdges(int descriptor, EventTarget& target) {
  return Control(EPOLL_CTL_ADD, descriptor, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, target);
}

bool EventPoller::Watch(int descriptor, EventTarget& target) {
  return Control(EPOLL_CTL_ADD, descriptor, EPOLLIN, target);
}

void EventPoller::Rest(int descriptor, EventTarget& target) {
  Control(EPOLL_CTL_MOD, descriptor, 0, target);
}

void EventPoller::Resume(int descriptor, EventTarget& target) {
  Control(EPOLL_CTL_MOD, descriptor, EPOLLIN, target);
}

void EventPoller::Poll(bool has_work) {
  for (int round = 0; round < kMostRounds; ++round) {
    if (PollOnce(has_work || round > 0) < kMaxAtOnce) return;
  }
}

int EventPoller::PollOnce(bool has_work) {
  // Without libc, as in stream.cc.
  const auto count = static_cast<int>(::syscall(SYS_epoll_pwait, descriptor_, events_.data(),
                                                kMaxAtOnce, has_work ? 0 : -1, nullptr, 0));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events_[static_cast<size_t>(i)];
    const bool hung_up = (event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    static_cast<EventTarget*>(event.data.ptr)
        ->OnEvent({.readable = (event.events & EPOLLIN) != 0 || hung_up,
                   .writable = (event.events & EPOLLOUT) != 0,
                   .hung_up = hung_up});
  }
  return count;
}

}  // namespace tally::server
