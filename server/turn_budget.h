// What the commands of all clients together may take of one turn of the loop. Whoever sends a
// request while a turn lasts waits for its end, so that none may last long, however many ask for
// much at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::server {

class TurnBudget {
 public:
  static constexpr int64_t kMicros = 2000;
  // Of replies: to send them takes longer than to write them.
  static constexpr size_t kBytes = size_t{1} << 20;

  // A new turn; times are of Clock::MonotonicMicros.
  void Begin(int64_t now_us) {
    end_us_ = now_us + kMicros;
    used_up_ = false;
    bytes_ = 0;
  }
  // Replies that were written, and the time at which they were.
  void Spend(size_t bytes, int64_t now_us) {
    bytes_ += bytes;
    used_up_ |= bytes_ >= kBytes || now_us >= end_us_;
  }
  bool used_up() const { return used_up_; }

 private:
  int64_t end_us_ = 0;
  size_t bytes_ = 0;
  bool used_up_ = false;
};

}  // namespace tally::server
