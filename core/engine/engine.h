// The databases of one server or program, and what they share. Not for use by two threads at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/keyspace/keyspace.h"
#include "core/keyspace/reclaimer.h"
#include "core/time/zone_source.h"

namespace tally {

class Decisions;
struct EngineScratch;
class PolicyTable;

class Engine {
 public:
  // One database, and UTC as its only time zone.
  Engine();
  // One database. Its hash tables are keyed by where the engine is in memory, which differs from
  // run to run. If strangers choose the keys, pass a random seed to the constructor below.
  explicit Engine(ZoneSource& zones);
  // `seed` keys the hash tables. `zones` must outlive the engine: values point into it.
  Engine(size_t databases, uint64_t seed, ZoneSource& zones);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  size_t databases() const { return keyspaces_.size(); }
  Keyspace& database(size_t index) { return *keyspaces_[index]; }
  const Keyspace& database(size_t index) const { return *keyspaces_[index]; }
  size_t IndexOf(const Keyspace& keyspace) const;

  void set_observer(Keyspace::Observer* observer);

  // Is notified of all changes while a snapshot of the databases is being written.
  class SnapshotObserver : public Keyspace::SnapshotObserver {
   public:
    virtual void BeforeClear(size_t database) = 0;
    virtual void BeforeSwap(size_t one, size_t other) = 0;

   protected:
    ~SnapshotObserver() = default;
  };
  // See Keyspace. No other snapshot may be under way (asserted).
  void BeginSnapshot(uint64_t epoch, SnapshotObserver& observer);
  void EndSnapshot();

  // Empties a database, or swaps the contents of two. O(1) but for what Keyspace::Clear takes.
  void Clear(size_t database);
  void Swap(size_t one, size_t other);

  void set_expiry(Expiry expiry);
  Expiry expiry() const { return keyspaces_.front()->expiry(); }
  void set_access_tracking(const AccessTracking& tracking);
  // By how much the instant up to which purchases, days of audiences, and whole books and audiences
  // are deleted is before now; 0 at first. For a host whose clock has jumped forward and may be set
  // back: what only the jump has made old must not be lost. What is counted goes by now.
  void set_deletion_lag_ms(int64_t ms);
  int64_t deletion_lag_ms() const { return deletion_lag_ms_; }

  // Removes due keys, one segment of each database at a time, while `more()` says to go on.
  // Returns whether anything due may be left.
  template <typename More>
  bool ExpireSome(int64_t now_ms, More&& more) {
    bool left = true;
    while (left && more()) {
      left = false;
      for (auto& keyspace : keyspaces_) left |= keyspace->ExpireSegment(now_ms);
    }
    return left;
  }

  // Sweeps the values that age by themselves (ValueOperations::sweep), while `more()` says to go
  // on: each frees some of what is out of date in it. The next call continues after the last value.
  template <typename More>
  void SweepSome(int64_t now_ms, More&& more) {
    size_t rounds = 0;
    for (const auto& keyspace : keyspaces_) rounds = std::max(rounds, keyspace->aging());
    while (rounds-- > 0 && more()) {
      for (auto& keyspace : keyspaces_)
        keyspace->SweepNext(now_ms - deletion_lag_ms_, kSweepBudget);
    }
  }

  // Where PrepareNext() goes on.
  struct Prepared {
    size_t database = 0;
    std::string from;
  };
  // After a load: prepares some of the values (ValueOperations::prepare). Returns false when all
  // are.
  bool PrepareNext(Prepared& place) {
    if (place.database >= keyspaces_.size()) return false;
    if (!keyspaces_[place.database]->PrepareNext(place.from)) place = {place.database + 1, {}};
    return true;
  }

  Reclaimer& reclaimer() { return reclaimer_; }
  const Reclaimer& reclaimer() const { return reclaimer_; }
  uint64_t seed() const { return seed_; }
  ZoneSource& zones() { return zones_; }
  // To use these, include policy_table.h, decisions.h or scratch.h. They are only declared here,
  // because most users of an engine do not need them.
  PolicyTable& policies() { return *policies_; }
  const PolicyTable& policies() const { return *policies_; }
  Decisions& decisions() { return *decisions_; }
  const Decisions& decisions() const { return *decisions_; }
  EngineScratch& scratch() { return *scratch_; }

 private:
  // In elements: about one segment of a quota book, since a sweep does not stop inside a segment.
  static constexpr size_t kSweepBudget = 1000;

  UtcOnly utc_only_;
  uint64_t seed_;
  int64_t deletion_lag_ms_ = 0;
  ZoneSource& zones_;
  Reclaimer reclaimer_;
  std::unique_ptr<PolicyTable> policies_;
  std::unique_ptr<Decisions> decisions_;
  std::unique_ptr<EngineScratch> scratch_;
  std::vector<std::unique_ptr<Keyspace>> keyspaces_;
  SnapshotObserver* snapshot_observer_ = nullptr;  // null unless a snapshot is being written
};

}  // namespace tally
