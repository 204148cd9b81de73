// The states of the keys of a LIMIT command: each key is looked up once, changed in memory, and
// stored if something has changed.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/engine/decisions.h"
#include "core/engine/limits.h"
#include "core/engine/place.h"
#include "core/engine/scratch.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/limit.h"
#include "core/limit/limit_state.h"
#include "core/limit/reservation.h"
#include "core/limit/settled_view.h"

namespace tally {

// Adds the scratch states up to `index`; returns the last.
LimitState& NewScratchLimit(const Place& place, size_t index);
// A state that small values are read into; one for each `index`.
[[gnu::always_inline]] inline LimitState& ScratchLimit(const Place& place, size_t index) {
  const auto& states = place.engine.scratch().limits;
  if (index >= states.size()) [[unlikely]]
    return NewScratchLimit(place, index);
  return *states[index];
}

// Whether a key that may be near its most counters may get those that these rules need.
bool HasRoomForNew(const LimitState& state, std::span<const LimitRule> rules, int64_t now_ms);
// Whether the key may get the counters that these rules need: see Limits::kMaxCounters.
inline bool HasRoomForRules(const LimitState& state, std::span<const LimitRule> rules,
                            int64_t now_ms) {
  return state.counters().size() + rules.size() <= Limits::kMaxCounters ||
         HasRoomForNew(state, rules, now_ms);
}

// The states of a request's keys. A key that is named several times has one state.
class LimitStates {
 public:
  // `result` gets what was found under the keys and done to them.
  LimitStates(const Place& place, LimitResult& result)
      : place_(place), keyspace_(place.keyspace()), result_(result) {}

  // Opens the keys and settles the holds that have ended at `now_ms`; if the keys are not opened
  // for a write, in a view. False if a key holds a value of another type.
  [[nodiscard]] bool Open(std::span<const KeyRules> keys, bool for_write, int64_t now_ms) {
    bool ended = false;
    for (const auto& [key, rules] : keys) {
      Named* named = Find(key);
      if (named == nullptr) {
        named = &states_.emplace_back(key, ScratchLimit(place_, states_.size()));
        const Keyspace::Entry entry = for_write ? keyspace_.FindForWrite(key, place_.now_ms)
                                                : keyspace_.Find(key, place_.now_ms);
        LimitResult::Key& outcome = result_.keys.emplace_back();
        outcome.name = key;
        outcome.found = static_cast<bool>(entry);
        if (!named->state.Open(entry)) {
          outcome.wrong_type = result_.wrong_type = true;
          return false;
        }
        ended |= HasEndedHolds(*named->state, now_ms);
      }
      for (const LimitRule& rule : rules) named->counts |= rule.counts();
      LimitUse& use = uses_.emplace_back();
      use.state = &*named->state;
      use.rules = rules;
    }
    // Not before: what is refused for the type of another key has changed nothing.
    if (ended) [[unlikely]]
      SettleAll(for_write, now_ms);
    return true;
  }

  // Each key once.
  size_t size() const { return states_.size(); }
  LimitState& state(size_t index) { return *states_[index].state; }
  HoldCountersReader& hold_counters() { return place_.engine.scratch().hold_counters; }
  // The rules of a key, wherever the request has them, without those that have not counted. If they
  // have to be copied, they are in `room`, which must be empty.
  std::span<const LimitRule> RulesOf(size_t index, HoldRules& room) {
    // Most keys are named once, and the uses are in the order of the keys then.
    if (shadow_denied_ == 0 && uses_.size() == states_.size()) return uses_[index].rules;
    ForEachCounted(uses_, shadow_denied_,
                   [&](const LimitUse& use, std::span<const LimitRule> rules) {
                     if (use.state != &state(index)) return;
                     room.insert(room.end(), rules.begin(), rules.end());
                   });
    return {room.data(), room.size()};
  }
  // Notes which rules have not counted (LimitDecision::shadow_denied).
  void LeaveOut(uint64_t shadow_denied) {
    shadow_denied_ = shadow_denied;
    for (size_t i = 0; i < states_.size(); ++i) {
      HoldRules room;
      const std::span<const LimitRule> rules = RulesOf(i, room);
      states_[i].counts = std::ranges::any_of(rules, std::mem_fn(&LimitRule::counts));
    }
  }
  // To be stored, as is a key of which holds have ended. No other key is stored: its deadline may
  // have been set by EXPIRE.
  void MarkChanged(size_t index) { states_[index].changed = true; }
  // The rules have counted. Returns whether any of them counts.
  bool MarkCounted() {
    bool any = false;
    for (Named& one : states_) {
      one.changed = one.counts;
      any |= one.counts;
    }
    return any;
  }
  // Sets back what the rules have counted after `now_ms` (SetBackLimits). Returns whether there was
  // anything.
  bool SetBack(int64_t now_ms) {
    bool any = false;
    for (const LimitUse& use : uses_) {
      if (!SetBackLimits({&use, 1}, now_ms)) continue;
      any = true;
      for (Named& one : states_) one.changed |= &*one.state == use.state;
    }
    return any;
  }
  // Whether holds have ended, so that there is something to store.
  bool settled() const {
    return std::ranges::any_of(states_, [](const Named& one) { return one.settled; });
  }

  std::span<const LimitUse> uses() const { return {uses_.data(), uses_.size()}; }

  bool HaveRoom() const {
    for (const LimitUse& use : uses_) {
      if (!HasRoomForRules(*use.state, use.rules, place_.now_ms)) return false;
    }
    return true;
  }

  // Stores what has changed.
  void Store() {
    for (size_t i = 0; i < states_.size(); ++i) {
      Named& one = states_[i];
      if (!one.changed && !one.settled) continue;
      if (states_.size() > 1) one.state.Relocate(keyspace_, one.key, place_.now_ms);
      // A late hit may be outside all windows; the state of a new key is then still empty.
      result_.keys[i].changed = one.state.exists() || !one.state->empty();
      result_.keys[i].removed =
          one.state.Store(keyspace_, one.key, place_.now_ms, place_.engine.scratch().bytes);
    }
  }

 private:
  struct Named {
    Named(std::string_view key_in, LimitState& scratch) : key(key_in), state(scratch) {}

    std::string_view key;
    CompactValue<LimitState> state;
    bool counts = false;   // one of its rules does
    bool changed = false;  // by more than holds that have ended
    bool settled = false;
  };

  void SettleAll(bool for_write, int64_t now_ms) {
    for (Named& named : states_) {
      LimitState& state = *named.state;
      if (!HasEndedHolds(state, now_ms)) continue;
      ZoneSource& zones = place_.engine.zones();
      if (for_write) {
        uint64_t* ended = place_.replaying ? nullptr : &place_.engine.decisions().holds().ended;
        named.settled = SettleHolds(state, zones, now_ms, ended);
        continue;
      }
      views_.push_back(std::make_unique<SettledView>(state, zones, now_ms));
      for (LimitUse& use : uses_) {
        if (use.state == &state) use.state = &views_.back()->state();
      }
    }
  }

  Named* Find(std::string_view key) {
    for (Named& one : states_) {
      if (one.key == key) return &one;
    }
    return nullptr;
  }

  const Place& place_;
  Keyspace& keyspace_;
  LimitResult& result_;
  absl::InlinedVector<Named, 2> states_;
  absl::InlinedVector<LimitUse, 2> uses_;
  std::vector<std::unique_ptr<SettledView>> views_;  // what a read sees, where holds have ended
  uint64_t shadow_denied_ = 0;
};

}  // namespace tally
