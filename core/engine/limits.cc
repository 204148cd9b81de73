#include "core/engine/limits.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "core/engine/decisions.h"
#include "core/engine/found_ids.h"
#include "core/engine/limit_states.h"
#include "core/engine/scratch.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/limit_state.h"

namespace tally {
namespace {

using State = CompactValue<LimitState>;

// Whether the id of the request needs no decision: it took on these keys already, or is wrong.
bool Knows(LimitStates& states, const LimitRequest& request, LimitResult& result) {
  const FoundIds found(states, request.once);
  if (found.AllAre(HoldState::kUnknown)) {
    if (!HaveRoomForId(states, request.max_holds)) result.wrong = kTooMany;
  } else if (found.AllAre(HoldState::kCommitted) && found.AreAllKeys()) {
    result.decision = AllowedNow(states.uses(), request.time.judged_at);
  } else {
    result.wrong = "ONCE must be an id that took on all of these keys, or on none";
  }
  return !result.wrong.empty() || !found.AllAre(HoldState::kUnknown);
}

void Remember(LimitStates& states, const LimitRequest& request) {
  for (size_t i = 0; i < states.size(); ++i) {
    const HoldRules rules = states.RulesOf(i);
    RememberHit(
        {&states.state(i), rules},
        {.id = request.once, .cost = request.cost, .keys = static_cast<int64_t>(states.size())},
        request.time.judged_at);
    states.MarkChanged(i);
  }
}

void Judge(const Place& place, LimitStates& states, const LimitRequest& request, LimitMode mode,
           LimitResult& result) {
  const auto [at, now] = request.time;
  const bool may_count = mode != LimitMode::kPeek && request.cost > 0;
  result.decision = DecideLimits(states.uses(), request.cost, now, at, mode);
  const bool force = mode == LimitMode::kForce;
  if (may_count && !place.replaying) {
    using Command = Decisions::Command;
    place.engine.decisions().Count(force ? Command::kForce : Command::kTake, request.keys,
                                   result.decision, {place.database, place.now});
  }
  if (result.decision.shadow_denied != 0 && !force) [[unlikely]] {
    states.LeaveOut(result.decision.shadow_denied);
  }
  const bool taken = force || (mode != LimitMode::kPeek && result.decision.allowed);
  if (taken && request.cost > 0) {
    result.counted = states.MarkCounted();
    if (result.counted && !request.once.empty()) Remember(states, request);
  } else if (may_count || mode == LimitMode::kCount) {
    result.set_back = states.SetBack(now);
  }
}

}  // namespace

LimitResult Limits::Decide(const LimitRequest& request, LimitMode mode) {
  LimitResult result;
  LimitStates states(place_, result);
  const int64_t now = request.time.judged_at;
  if (!states.Open(request.keys, mode != LimitMode::kPeek, now)) return result;
  const bool may_count = mode != LimitMode::kPeek && request.cost > 0;
  result.full = may_count && !place_.replaying && !states.HaveRoom();
  const bool known = !request.once.empty() && !place_.replaying && Knows(states, request, result);
  if (!result.full && !known) Judge(place_, states, request, mode, result);
  if (states.settled() && !result.counted && mode != LimitMode::kPeek) {
    // Logged as a hit of cost 0, whose replay sets back too.
    states.SetBack(now);
    result.set_back = true;
  }
  if (result.counted || result.set_back) states.Store();
  return result;
}

KeyOutcome Limits::Give(std::string_view key, int64_t count, int64_t judged_at, int64_t not_after) {
  KeyOutcome outcome;
  State state(ScratchLimit(place_, 0));
  outcome.wrong_type = !state.Open(place_.keyspace().FindForWrite(key, place_.now));
  outcome.found = outcome.wrong_type || state.exists();
  if (outcome.wrong_type || !outcome.found || count == 0) return outcome;
  SettleHolds(*state, place_.engine.zones(), judged_at);
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
  State state(ScratchLimit(place_, 0));
  const Keyspace::Entry entry = place_.keyspace().Find(key, place_.now);
  outcome.found = static_cast<bool>(entry);
  outcome.wrong_type = !state.Open(entry);
  if (outcome.wrong_type) return outcome;
  if (HasEndedHolds(*state, place_.now)) {
    shown = ShowLimits(SettledView(*state, place_.engine.zones(), place_.now).state(), place_.now);
  } else {
    shown = ShowLimits(*state, place_.now);
  }
  return outcome;
}

KeyOutcome Limits::Throttle(std::string_view key, const LimitRule& rule, int64_t quantity,
                            ThrottleReply& reply) {
  KeyOutcome outcome;
  State state(ScratchLimit(place_, 0));
  const Keyspace::Entry entry = place_.keyspace().FindForWrite(key, place_.now);
  outcome.found = static_cast<bool>(entry);
  outcome.wrong_type = !state.Open(entry);
  if (outcome.wrong_type) return outcome;
  outcome.full =
      quantity > 0 && !place_.replaying && !HasRoomForRules(*state, {&rule, 1}, place_.now);
  if (outcome.full) return outcome;
  const bool settled = SettleHolds(*state, place_.engine.zones(), place_.now);
  reply = tally::Throttle(*state, rule, quantity, place_.now);
  if (quantity > 0) {
    const KeyRules judged{key, {&rule, 1}};
    place_.engine.decisions().Count(Decisions::Command::kThrottle, {&judged, 1},
                                    {.allowed = !reply.limited, .rule = reply.limited ? 1 : 0},
                                    {place_.database, place_.now});
  }
  if (quantity == 0 && !settled) return outcome;
  const LimitUse use{&*state, {&rule, 1}};
  const bool taken = quantity > 0 && !reply.limited;
  const bool set_back = !taken && SetBackLimits({&use, 1}, place_.now);
  outcome.changed = settled || taken || set_back;
  if (!outcome.changed) return outcome;
  outcome.removed = state.Store(place_.keyspace(), key, place_.now, place_.engine.scratch().bytes);
  return outcome;
}

}  // namespace tally
