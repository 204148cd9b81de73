// Waits for events from the kernel and passes them on: what happened on sockets to their
// connections, and timers, signals and new connections to their handlers.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <cstdint>

#include "server/net/ready_set.h"

namespace tally::server {

class EventPoller {
 public:
  explicit EventPoller(asio::io_context& io);

  // The sockets of connections are registered here.
  ReadySet& ready_set() { return ready_set_; }

  // Handles the events that have come. If there are none, waits for one, unless `has_work` says
  // that the turn has other work.
  void Poll(bool has_work);
  // Makes the next Poll wait at most this long. Has no effect while the timer of an earlier call
  // runs.
  void WakeAfter(int64_t micros);

 private:
  void WaitForReady();
  void TakeReady();

  asio::io_context& io_;
  asio::posix::stream_descriptor ready_descriptor_;
  ReadySet ready_set_;
  asio::steady_timer timer_;
  bool waits_for_ready_ = false;
  bool waits_for_timer_ = false;
};

}  // namespace tally::server
