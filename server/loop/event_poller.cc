#include "server/loop/event_poller.h"

#include <chrono>
#include <system_error>

#include "server/net/connection.h"

namespace tally::server {
namespace {

// The most handlers, of timers, new connections and so on, that one turn runs.
constexpr int kMostHandlers = 64;

}  // namespace

EventPoller::EventPoller(asio::io_context& io)
    : io_(io),
      ready_descriptor_(io, ReadySet::Create()),
      ready_set_(ready_descriptor_.native_handle()),
      timer_(io) {}

void EventPoller::Poll(bool has_work) {
  if (!waits_for_ready_) WaitForReady();
  if (!has_work) {
    io_.run_one();
    return;
  }
  for (int i = 0; i < kMostHandlers && io_.poll_one() > 0; ++i) {
  }
  // The handlers that ran may all have been for other events. A request that has come must not wait
  // for another turn.
  TakeReady();
}

// The wait is armed again only in the next turn, so that each turn answers before it looks for
// more.
void EventPoller::WaitForReady() {
  waits_for_ready_ = true;
  ready_descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                               [this](const std::error_code& error) {
                                 waits_for_ready_ = false;
                                 if (!error) TakeReady();
                               });
}

void EventPoller::TakeReady() {
  for (const ReadySet::Ready& ready : ready_set_.Take()) {
    ready.connection->OnReady(ready.readable, ready.writable, ready.hung_up);
  }
}

void EventPoller::WakeAfter(int64_t micros) {
  if (waits_for_timer_) return;
  waits_for_timer_ = true;
  timer_.expires_after(std::chrono::microseconds(micros));
  timer_.async_wait([this](const std::error_code&) {
    waits_for_timer_ = false;
    TakeReady();  // Takes requests too: the timer is for work of turns without requests.
  });
}

}  // namespace tally::server
