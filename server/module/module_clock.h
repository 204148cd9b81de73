// The clock of the module's commands: the server's time, or for tests a time that was set.
//
// Keys end by the server's own clock. A set time must not be before the server's time, because then
// the server would end keys that still count here.
#pragma once

#include <cstdint>
#include <optional>

#include "core/time/duration.h"
#include "server/module/module_api.h"

namespace tally::module {

class ModuleClock {
 public:
  // Unix ms. Inside a transaction or a script the time stands still, if the server has
  // CachedMicroseconds.
  int64_t now_ms() const {
    if (set_ms_) [[unlikely]]
      return *set_ms_;
    const redis::Api& api = redis::Functions();
    return api.CachedMicroseconds != nullptr ? api.CachedMicroseconds() / 1000 : api.Milliseconds();
  }

  // The clock is stopped at `unix_ms` until it is advanced or made real again.
  void Set(int64_t unix_ms) { set_ms_ = unix_ms; }
  // Stops the clock at `ms` after now. Returns false if that is not in the range of instants.
  bool Advance(int64_t ms) {
    const int64_t stands_ms = now_ms();
    if (stands_ms > kMaxInstantMs - ms) return false;
    set_ms_ = stands_ms + ms;
    return true;
  }
  void MakeReal() { set_ms_.reset(); }

 private:
  std::optional<int64_t> set_ms_;
};

}  // namespace tally::module
