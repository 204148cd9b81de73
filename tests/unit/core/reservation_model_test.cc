// Reservations of the engine against a naive model.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/engine/ahead_walk.h"
#include "core/engine/limits.h"
#include "core/engine/reservations.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/limit_state.h"
#include "core/tzdata/tzdata_zones.h"
#include "reservation_run.h"
#include "scale.h"

namespace tally::reservation_model_test {
namespace {

class EngineTarget {
 public:
  static constexpr bool kTellsShadow = true;

  ZoneSource& zones() { return zones_; }
  void PassTo(int64_t now) { now_ = now; }
  void Forget() {
    for (const std::string_view key : test::kReservedKeys) {
      test::ForgetEnded(engine_, key, now_);
    }
  }
  void SetBackTo(int64_t now) {
    now_ = now;
    AheadWalk walk;
    std::vector<AheadWalk::Found> found;
    walk.Begin();
    while (walk.goes_on()) walk.Next(engine_, now_, found);
    for (AheadWalk::Found& key : found) {
      key.rules.push_back(LimitRule::Allow());
      const KeyRules keys[] = {{key.key, key.rules}};
      Decide({.keys = keys, .cost = 0, .time = EventInstants::Now(now_)}, LimitMode::kCount);
    }
  }
  void Restart() {}
  // Saves a key in small slices and loads it again.
  void Reload(std::string_view name) {
    const Keyspace::Entry entry = Here().keyspace().FindForWrite(name, now_);
    if (!entry) return;
    LimitState scratch;
    CompactValue<LimitState> state(scratch);
    REQUIRE(state.Open(entry));
    LimitState loaded;
    for (uint64_t cursor = 0;;) {
      std::string bytes;
      cursor = state->Save(cursor, 7, bytes);
      REQUIRE(loaded.Load(bytes));
      if (cursor == 0) break;
    }
    std::string before;
    std::string after;
    state->Encode(before);
    loaded.Encode(after);
    REQUIRE(before == after);
    Here().keyspace().Erase(entry);
    LimitState again;
    CompactValue<LimitState> fresh(again);
    REQUIRE(fresh.Open({}));
    *fresh = std::move(loaded);
    std::string bytes;
    fresh.Store(Here().keyspace(), name, now_, bytes);
  }

  LimitResult Decide(const LimitRequest& request, LimitMode mode) {
    return Limits(Here()).Decide(request, mode);
  }
  HoldResult Reserve(const HoldRequest& request) { return Reservations(Here()).Reserve(request); }
  HoldResult Extend(const HoldRequest& request) { return Reservations(Here()).Extend(request); }
  SettleResult Commit(const CommitRequest& request, int64_t now) {
    return Reservations(Here()).Commit(request, now);
  }
  SettleResult Cancel(std::string_view id, const std::vector<KeyRules>& keys, int64_t now) {
    return Reservations(Here()).Cancel(id, keys, now);
  }
  void Held(std::string_view key, std::vector<HeldShown>& held) {
    Reservations(Here()).Held(key, held);
  }
  void Give(std::string_view key, int64_t count, int64_t now) {
    Limits(Here()).Give(key, count, now, kMaxInstantMs);
  }
  void Reset(std::string_view key) { Limits(Here()).Reset(key); }

 private:
  Place Here() { return {engine_, 0, now_}; }

  TzdataZones zones_;
  Engine engine_{zones_};
  int64_t now_ = 0;
};

TEST_CASE("Reservations: the model", "[reservation]") {
  test::ReservedRun<EngineTarget> run;
  INFO("TALLY_SEED=" << run.seed());
  for (uint64_t steps = test::Scaled(20'000); steps > 0; --steps) run.Step();
}

}  // namespace
}  // namespace tally::reservation_model_test
