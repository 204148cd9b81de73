// When the slices of a rewrite are due, so that those who are being served hardly notice it.
#pragma once

#include <cstdint>
#include <optional>

namespace tally::server {

// Times are microseconds of a clock that never goes back.
class RewritePacing {
 public:
  // At a turn's end, when `commands` have been processed so far: how long a slice may take now;
  // nothing if none is due.
  std::optional<int64_t> SliceDue(uint64_t commands, int64_t now_us);
  void SliceRan(int64_t begin_us, int64_t end_us);
  // How long a turn without requests is to be waited for; 0: it is due now.
  int64_t NextSliceIn(int64_t now_us) const;

 private:
  // Whether a client was served in the last milliseconds.
  bool Serving(int64_t now_us) const;

  uint64_t served_commands_ = 0;            // when a slice could last have begun
  int64_t last_served_us_ = INT64_MIN / 2;  // when they had last grown until then
  int64_t next_idle_slice_us_ = 0;          // in a turn without requests
  int64_t next_busy_slice_us_ = 0;          // and in one with some
};

}  // namespace tally::server
