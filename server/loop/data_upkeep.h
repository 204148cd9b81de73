// Frees the memory of what is no longer needed: expired keys, deleted values, old entries of quota
// books, and keys that maxmemory evicts. Works in slices, each with a time budget.
#pragma once

#include "server/dispatch/services.h"

namespace tally::server {

class DataUpkeep {
 public:
  explicit DataUpkeep(Services& server) : server_(server) {}

  // Whether a slice has work to do now. The loop must not wait then.
  bool HasWork() const;
  // Called at the end of each turn.
  void Slice();
  // Called at each tick of PeriodicWork. Frees what can be found only by looking at one value after
  // the other.
  void Sweep();

 private:
  bool MayExpire() const;

  Services& server_;
};

}  // namespace tally::server
