// Waits for events from the kernel, on all descriptors of the loop, and passes them on: one epoll
// set, in which each descriptor is registered once.
//
// The socket of a connection is edge-triggered for both directions, so that a request costs no
// system call but the wait, a receive and a send. The receiver of an edge remembers it until a read
// or write says that the socket is drained. Listeners, timers and signals are level-triggered: what
// is left of them is reported again in the next turn.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>

namespace tally::server {

struct DescriptorEvent {
  bool readable = false;
  bool writable = false;
  bool hung_up = false;  // what is left to read ends with the end of the stream, or an error
};

// Whoever owns a descriptor that is watched. It must exist until the turn in which it closes the
// descriptor has ended.
class EventTarget {
 public:
  virtual void OnEvent(DescriptorEvent event) = 0;

 protected:
  ~EventTarget() = default;
};

class EventPoller {
 public:
  EventPoller();
  ~EventPoller();
  EventPoller(const EventPoller&) = delete;
  EventPoller& operator=(const EventPoller&) = delete;

  // Both return false if the kernel has no room for the descriptor. A descriptor leaves the set
  // when it is closed. For the socket of a connection.
  bool WatchEdges(int descriptor, EventTarget& target);
  // For what becomes readable now and then.
  bool Watch(int descriptor, EventTarget& target);
  // A watched descriptor reports nothing until Resume.
  void Rest(int descriptor, EventTarget& target);
  void Resume(int descriptor, EventTarget& target);

  // Passes on the events that have come, at most kMostRounds times kMaxAtOnce of them, with one
  // system call for each kMaxAtOnce. If there are none, waits for one, unless `has_work` says that
  // the turn has other work. Many are taken because the kernel reports them in the order in which
  // they came: a request must not wait until thousands of peers that hang up have been closed.
  void Poll(bool has_work);
  static constexpr int kMaxAtOnce = 512;
  static constexpr int kMostRounds = 16;

 private:
  // Passes on at most kMaxAtOnce events, and returns how many there were.
  int PollOnce(bool has_work);
  bool Control(int operation, int descriptor, uint32_t events, EventTarget& target);

  const int descriptor_;
  std::array<epoll_event, kMaxAtOnce> events_;
};

}  // namespace tally::server
