#include "core/engine/engine.h"

#include "core/base/check.h"
#include "core/engine/decisions.h"
#include "core/engine/scratch.h"
#include "core/limit/policy_table.h"

namespace tally {

Engine::Engine() : Engine(utc_only_) {}

Engine::Engine(ZoneSource& zones) : Engine(1, reinterpret_cast<uintptr_t>(this), zones) {}

Engine::Engine(size_t databases, uint64_t seed, ZoneSource& zones)
    : seed_(seed),
      zones_(zones),
      policies_(std::make_unique<PolicyTable>()),
      decisions_(std::make_unique<Decisions>(seed)),
      scratch_(std::make_unique<EngineScratch>(seed)) {
  for (size_t i = 0; i < databases; ++i) {
    keyspaces_.push_back(std::make_unique<Keyspace>(seed, reclaimer_));
  }
}

Engine::~Engine() = default;

size_t Engine::IndexOf(const Keyspace& keyspace) const {
  for (size_t i = 0; i < keyspaces_.size(); ++i) {
    if (keyspaces_[i].get() == &keyspace) return i;
  }
  Check(false, "the keyspace is one of the engine's");
  return 0;
}

void Engine::set_observer(Keyspace::Observer* observer) {
  for (auto& keyspace : keyspaces_) keyspace->set_observer(observer);
}

void Engine::BeginSnapshot(uint64_t epoch, SnapshotObserver& observer) {
  Check(snapshot_observer_ == nullptr, "one snapshot is written at a time");
  snapshot_observer_ = &observer;
  for (auto& keyspace : keyspaces_) keyspace->BeginSnapshot(epoch, observer);
}

void Engine::EndSnapshot() {
  snapshot_observer_ = nullptr;
  for (auto& keyspace : keyspaces_) keyspace->EndSnapshot();
}

void Engine::Clear(size_t database) {
  if (snapshot_observer_ != nullptr) snapshot_observer_->BeforeClear(database);
  keyspaces_[database]->Clear();
}

void Engine::Swap(size_t one, size_t other) {
  if (snapshot_observer_ != nullptr) snapshot_observer_->BeforeSwap(one, other);
  keyspaces_[one]->Swap(*keyspaces_[other]);
}

void Engine::set_expiring(bool expiring) {
  for (auto& keyspace : keyspaces_) keyspace->set_expiring(expiring);
}

void Engine::set_deletion_lag_ms(int64_t ms) {
  deletion_lag_ms_ = ms;
  for (auto& keyspace : keyspaces_) keyspace->set_deletion_lag_ms(ms);
}

void Engine::set_access_tracking(const AccessTracking& tracking) {
  for (auto& keyspace : keyspaces_) keyspace->set_access_tracking(tracking);
}

}  // namespace tally
