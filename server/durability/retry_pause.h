// The growing pauses after failures: one second after the first, then twice as long each time, up
// to five minutes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tally::server {

class RetryPause {
 public:
  static constexpr int64_t kFirstMs = 1000;
  static constexpr int64_t kLongestMs = 300'000;

  // Times are milliseconds of a clock that never goes back.
  void Failed(int64_t now_ms) {
    pause_ms_ = failures_++ == 0 ? kFirstMs : std::min(2 * pause_ms_, kLongestMs);
    next_ms_ = now_ms + pause_ms_;
  }
  void Succeeded() { *this = RetryPause(); }

  bool IsDue(int64_t now_ms) const { return failures_ == 0 || now_ms >= next_ms_; }
  int64_t next_ms() const { return next_ms_; }
  // How many failures there were since the last success.
  uint64_t failures() const { return failures_; }

 private:
  uint64_t failures_ = 0;
  int64_t pause_ms_ = 0;
  int64_t next_ms_ = 0;
};

}  // namespace tally::server
