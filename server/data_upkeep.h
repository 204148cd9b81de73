// Gives back the memory of what is no longer wanted: expired keys, deleted values, old entries of
// quota books, and whatever maxmemory asks for, each in slices with a budget of time.
#pragma once

#include "server/state/services.h"

namespace tally::server {

class DataUpkeep {
 public:
  explicit DataUpkeep(Services& server) : server_(server) {}

  // Whether a slice would find something at once, so that the loop must not wait.
  bool HasWork() const;
  // At each turn's end.
  void Slice();
  // At each tick of the clock: what is found only by looking at values one after the other.
  void Sweep();

 private:
  bool MayExpire() const;

  Services& server_;
};

}  // namespace tally::server
