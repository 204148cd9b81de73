#include "core/engine/limits.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "core/engine/decisions.h"
#include "core/engine/scratch.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/limit_state.h"

namespace tally {
namespace {

using State = CompactValue<LimitState>;

// Whether a key that may be near its most counters may get those that these rules need.
bool HasRoomForNew(const LimitState& state, std::span<const LimitRule> rules, int64_t now) {
  const auto counters = state.counters();
  const auto counting =
      std::count_if(counters.begin(), counters.end(),
                    [now](const LimitCounter& counter) { return counter.ExpiresAt() > now; });
  const auto added = std::count_if(rules.begin(), rules.end(), [&](const LimitRule& rule) {
    return rule.counts() && state.Find(LimitKey::Of(rule)) == nullptr;
  });
  return added == 0 || static_cast<size_t>(counting + added) <= Limits::kMaxCounters;
}

bool HasRoom(const LimitState& state, std::span<const LimitRule> rules, int64_t now) {
  return state.counters().size() + rules.size() <= Limits::kMaxCounters ||
         HasRoomForNew(state, rules, now);
}

LimitState& ScratchState(const Place& place, size_t index) {
  auto& states = place.engine.scratch().limits;
  while (states.size() <= index) states.push_back(std::make_unique<LimitState>());
  return *states[index];
}

// The states of a request's keys. A key that is named several times has one state.
class LimitStates {
 public:
  LimitStates(const Place& place, LimitResult& result)
      : place_(place), keyspace_(place.keyspace()), result_(result) {}

  // False if a key holds a value of another type.
  [[nodiscard]] bool Open(std::span<const KeyRules> keys, bool for_write) {
    for (const auto& [key, rules] : keys) {
      Named* named = Find(key);
      if (named == nullptr) {
        named = &states_.emplace_back(key, ScratchState(place_, states_.size()));
        const Keyspace::Entry entry =
            for_write ? keyspace_.FindForWrite(key, place_.now) : keyspace_.Find(key, place_.now);
        LimitResult::Key& outcome = result_.keys.emplace_back();
        outcome.name = key;
        outcome.found = static_cast<bool>(entry);
        if (!named->state.Open(entry)) {
          outcome.wrong_type = result_.wrong_type = true;
          return false;
        }
      }
      named->counts |= std::any_of(rules.begin(), rules.end(), std::mem_fn(&LimitRule::counts));
      LimitUse& use = uses_.emplace_back();
      use.state = &*named->state;
      use.rules = rules;
    }
    return true;
  }

  std::span<const LimitUse> uses() const { return {uses_.data(), uses_.size()}; }
  // Whether any of the rules counts hits.
  bool counts() const {
    return std::any_of(states_.begin(), states_.end(), [](const Named& one) { return one.counts; });
  }

  bool HaveRoom() const {
    return std::all_of(uses_.begin(), uses_.end(), [this](const LimitUse& use) {
      return HasRoom(*use.state, use.rules, place_.now);
    });
  }

  void Store() {
    for (size_t i = 0; i < states_.size(); ++i) {
      Named& one = states_[i];
      if (!one.counts) continue;
      if (states_.size() > 1) one.state.Relocate(keyspace_, one.key, place_.now);
      // A late hit may be outside all windows; the state of a new key is then still empty.
      result_.keys[i].changed = one.state.exists() || !one.state->empty();
      result_.keys[i].removed =
          one.state.Store(keyspace_, one.key, place_.now, place_.engine.scratch().bytes);
    }
  }

 private:
  struct Named {
    Named(std::string_view key_in, LimitState& scratch) : key(key_in), state(scratch) {}

    std::string_view key;
    State state;
    bool counts = false;
  };

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
};

}  // namespace

LimitResult Limits::Decide(const LimitRequest& request, LimitMode mode) {
  LimitResult result;
  LimitStates states(place_, result);
  if (!states.Open(request.keys, mode != LimitMode::kPeek)) return result;
  const bool may_count = mode != LimitMode::kPeek && request.cost > 0;
  result.full = may_count && !place_.replaying && !states.HaveRoom();
  if (result.full) return result;
  result.decision =
      DecideLimits(states.uses(), request.cost, request.time.judged_at, request.time.at, mode);
  const bool force = mode == LimitMode::kForce;
  if (may_count && !place_.replaying) {
    using Command = Decisions::Command;
    place_.engine.decisions().Count(force ? Command::kForce : Command::kTake, request.keys,
                                    result.decision, {place_.database, place_.now});
  }
  const bool taken = force || (mode != LimitMode::kPeek && result.decision.allowed);
  if (taken && request.cost > 0) {
    result.counted = states.counts();
  } else if (may_count || mode == LimitMode::kCount) {
    result.set_back = SetBackLimits(states.uses(), request.time.judged_at);
  }
  if (result.counted || result.set_back) states.Store();
  return result;
}

KeyOutcome Limits::Give(std::string_view key, int64_t count, int64_t judged_at, int64_t not_after) {
  KeyOutcome outcome;
  State state(ScratchState(place_, 0));
  outcome.wrong_type = !state.Open(place_.keyspace().FindForWrite(key, place_.now));
  outcome.found = outcome.wrong_type || state.exists();
  if (outcome.wrong_type || !outcome.found || count == 0) return outcome;
  state->Give(count, judged_at, not_after);
  outcome.changed = true;
  outcome.removed = state.Store(place_.keyspace(), key, place_.now, place_.engine.scratch().bytes);
  return outcome;
}

KeyOutcome Limits::Reset(std::string_view key) {
  const Keyspace::Entry entry = place_.keyspace().FindForWrite(key, place_.now);
  KeyOutcome outcome;
  outcome.found = static_cast<bool>(entry);
  if (!entry) return outcome;
  outcome.wrong_type = entry.type() != Type::kLimit;
  if (outcome.wrong_type) return outcome;
  place_.keyspace().Erase(entry);
  outcome.changed = outcome.removed = true;
  return outcome;
}

KeyOutcome Limits::Show(std::string_view key, std::vector<LimitShown>& shown) {
  KeyOutcome outcome;
  State state(ScratchState(place_, 0));
  const Keyspace::Entry entry = place_.keyspace().Find(key, place_.now);
  outcome.found = static_cast<bool>(entry);
  outcome.wrong_type = !state.Open(entry);
  if (!outcome.wrong_type) shown = ShowLimits(*state, place_.now);
  return outcome;
}

KeyOutcome Limits::Throttle(std::string_view key, const LimitRule& rule, int64_t quantity,
                            ThrottleReply& reply) {
  KeyOutcome outcome;
  State state(ScratchState(place_, 0));
  const Keyspace::Entry entry = place_.keyspace().FindForWrite(key, place_.now);
  outcome.found = static_cast<bool>(entry);
  outcome.wrong_type = !state.Open(entry);
  if (outcome.wrong_type) return outcome;
  outcome.full = quantity > 0 && !place_.replaying && !HasRoom(*state, {&rule, 1}, place_.now);
  if (outcome.full) return outcome;
  reply = tally::Throttle(*state, rule, quantity, place_.now);
  if (quantity > 0) {
    const KeyRules judged{key, {&rule, 1}};
    place_.engine.decisions().Count(Decisions::Command::kThrottle, {&judged, 1},
                                    {.allowed = !reply.limited, .rule = reply.limited ? 1 : 0},
                                    {place_.database, place_.now});
  }
  if (quantity == 0) return outcome;
  const LimitUse use{&*state, {&rule, 1}};
  outcome.changed = !reply.limited || SetBackLimits({&use, 1}, place_.now);
  if (!outcome.changed) return outcome;
  outcome.removed = state.Store(place_.keyspace(), key, place_.now, place_.engine.scratch().bytes);
  return outcome;
}

}  // namespace tally
