// The time by which commands are judged: the server's, or for tests one that is set.
//
// Keys end by the server's own clock: a set one must not be before it, or the server ends them
// while they still count here.
#pragma once

#include <cstdint>
#include <optional>

#include "core/time/duration.h"
#include "server/module/module_api.h"

namespace tally::module {

class ModuleClock {
 public:
  // Unix ms. Inside a transaction or a script it stands still, where the server says so.
  int64_t now_ms() const {
    if (set_ms_) [[unlikely]]
      return *set_ms_;
    const redis::Api& api = redis::Functions();
    return api.CachedMicroseconds != nullptr ? api.CachedMicroseconds() / 1000 : api.Milliseconds();
  }

  // The clock is stopped at `unix_ms` until it is advanced or made real again.
  void Set(int64_t unix_ms) { set_ms_ = unix_ms; }
  // False when it would leave the range of instants.
  bool Advance(int64_t ms) {
    const int64_t now = now_ms();
    if (now > kMaxInstantMs - ms) return false;
    set_ms_ = now + ms;
    return true;
  }
  void MakeReal() { set_ms_.reset(); }

 private:
  std::optional<int64_t> set_ms_;
};

}  // namespace tally::module
