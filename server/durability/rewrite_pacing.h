// Decides when the slices of a rewrite are due, so that clients being served hardly notice it.
#pragma once

#include <cstdint>
#include <optional>

namespace tally::server {

// Times are microseconds of a clock that never goes back.
class RewritePacing {
 public:
  // Called at a turn's end. `commands` is the number of commands processed so far. Returns how long
  // a slice may take now; nullopt if none is due.
  std::optional<int64_t> SliceDue(uint64_t commands, int64_t now_us);
  void SliceRan(int64_t begin_us, int64_t end_us);
  // Returns after how long a slice is due if no requests come; 0: now.
  int64_t NextSliceIn(int64_t now_us) const;

 private:
  // Whether a client was served in the last 5 ms.
  bool Serving(int64_t now_us) const;

  uint64_t served_commands_ = 0;            // `commands` at the last SliceDue
  int64_t last_served_us_ = INT64_MIN / 2;  // the last SliceDue at which `commands` had grown
  int64_t next_idle_slice_us_ = 0;          // when a slice is due in a turn without requests
  int64_t next_busy_slice_us_ = 0;          // when a slice is due in a turn with requests
};

}  // namespace tally::server
