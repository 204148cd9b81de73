#include "server/net/ready_set.h"

#include "core/base/check.h"

namespace tally::server {

int ReadySet::Create() {
  const int descriptor = ::epoll_create1(EPOLL_CLOEXEC);
  Check(descriptor >= 0, "the kernel has a descriptor for the set of sockets");
  return descriptor;
}

bool ReadySet::Add(int socket, Connection& connection) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &connection;
  return ::epoll_ctl(descriptor_, EPOLL_CTL_ADD, socket, &event) == 0;
}

std::span<const ReadySet::Ready> ReadySet::Take() {
  const int count = ::epoll_wait(descriptor_, events_.data(), kMaxAtOnce, 0);
  if (count <= 0) return {};
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const uint32_t bits = events_[i].events;
    const bool hung_up = (bits & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    ready_[i] = {static_cast<Connection*>(events_[i].data.ptr), (bits & EPOLLIN) != 0 || hung_up,
                 (bits & EPOLLOUT) != 0, hung_up};
  }
  return {ready_.data(), static_cast<size_t>(count)};
}

}  // namespace tally::server
