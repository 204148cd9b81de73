// Frees the memory of what is no longer needed: expired keys, deleted values, old entries of quota
// books, and keys that maxmemory evicts. Sets back what lies after a clock that was set back. Works
// in slices, each with a time budget.
#pragma once

#include <cstdint>

#include "server/interfaces/services.h"
#include "server/loop/clock_set_back.h"

namespace tally::server {

class DataUpkeep {
 public:
  explicit DataUpkeep(Services& server) : server_(server), set_back_(server) {}

  // Whether a slice has work to do now. The loop must not wait then.
  bool HasWork() const;
  // Called at the end of each turn.
  void Slice();
  // Called at each tick of PeriodicWork. Frees what can be found only by looking at one value after
  // the other, and sets that back which lies after now.
  void Sweep();

 private:
  bool MayExpire() const;
  void Free(bool expires);

  Services& server_;
  int64_t expired_at_ms_ = -1;  // all that is due at this instant is gone; -1: perhaps not
  ClockSetBack set_back_;
};

}  // namespace tally::server
