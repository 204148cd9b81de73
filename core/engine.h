// The databases of one server, and what they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/keyspace/keyspace.h"
#include "core/keyspace/reclaimer.h"

namespace tally {

class Engine {
 public:
  // `seed` keys the hash tables.
  Engine(size_t databases, uint64_t seed);

  size_t databases() const { return keyspaces_.size(); }
  Keyspace& database(size_t index) { return *keyspaces_[index]; }
  const Keyspace& database(size_t index) const { return *keyspaces_[index]; }
  size_t IndexOf(const Keyspace& keyspace) const;

  void set_observer(Keyspace::Observer* observer);
  void set_expiring(bool expiring);

  // Removes due keys, one segment of each database at a time, while `more()` says to go on.
  // Returns whether anything due may be left.
  template <typename More>
  bool ExpireSome(int64_t now, More&& more) {
    bool left = true;
    while (left && more()) {
      left = false;
      for (auto& keyspace : keyspaces_) left |= keyspace->ExpireSegment(now);
    }
    return left;
  }

  Reclaimer& reclaimer() { return reclaimer_; }
  uint64_t seed() const { return seed_; }

 private:
  uint64_t seed_;
  Reclaimer reclaimer_;
  std::vector<std::unique_ptr<Keyspace>> keyspaces_;
};

}  // namespace tally
