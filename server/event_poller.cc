#include "server/event_poller.h"

#include <chrono>
#include <system_error>

#include "server/connection.h"

namespace tally::server {
namespace {

// Handlers of timers and new connections that one turn runs.
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
  // The handlers may have been others': who has sent a request waits for no second turn.
  TakeReady();
}

// Armed again in the next turn only, so that each turn answers before it looks for more.
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
    TakeReady();  // Requests that have come too: what it was set for is for turns without.
  });
}

}  // namespace tally::server
