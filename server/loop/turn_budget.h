// Limits what the commands of all clients together may take of one turn of the loop. A request that
// arrives during a turn waits until the turn ends, so no turn may last long, however many clients
// ask for much at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally::server {

class TurnBudget {
 public:
  static constexpr int64_t kMicros = 2000;
  // Bytes of replies. To send them takes longer than to write them.
  static constexpr size_t kBytes = size_t{1} << 20;

  // Begins a new turn. Times are those of CycleMicros.
  void Begin(int64_t now_us) {
    end_us_ = now_us + kMicros;
    used_up_ = false;
    bytes_ = 0;
  }
  // Counts `bytes` of replies that have been written by `now_us`.
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
