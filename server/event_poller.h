// Waits for the kernel, and hands out what it says: to the connections what their sockets have, and
// to the handlers of timers, signals and listeners that their time has come.
#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <cstdint>

#include "server/ready_set.h"

namespace tally::server {

class EventPoller {
 public:
  explicit EventPoller(asio::io_context& io);

  // Where the sockets of connections are registered.
  ReadySet& ready_set() { return ready_set_; }

  // Handles what has come; waits for something unless the turn has other work.
  void Poll(bool has_work);
  // Has the next Poll wait for at most this long, if no earlier call has asked for that yet.
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
