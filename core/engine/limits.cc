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
    result.decision = AllowedNow(states.uses(), request.time.judged_at_ms);
  } else {
    result.wrong = "ONCE must be an id that took on all of these keys, or on none";
  }
  return !result.wrong.empty() || !found.AllAre(HoldState::kUnknown);
}

void Remember(LimitStates& states, const LimitRequest& request) {
  for (size_t i = 0; i < states.size(); ++i) {
    HoldRules room;
    RememberHit(
        {&states.state(i), states.RulesOf(i, room)},
        {.id = request.once, .cost = request.cost, .keys = static_cast<int64_t>(states.size())},
        request.time.judged_at_ms);
    states.MarkChanged(i);
  }
}

void CountDecision(const Place& place, const LimitRequest& request, LimitMode mode,
                   const LimitDecision& decision) {
  if (mode == LimitMode::kPeek || request.cost == 0 || place.replaying) return;
  const bool force = mode == LimitMode::kForce;
  place.engine.decisions().Count(force ? Decisions::Command::kForce : request.command, request.keys,
                                 decision, {place.database, place.now_ms});
}

void Judge(const Place& place, LimitStates& states, const LimitRequest& request, LimitMode mode,
           LimitResult& result) {
  const auto [at_ms, now_ms] = request.time;
  const bool may_count = mode != LimitMode::kPeek && request.cost > 0;
  result.decision = DecideLimits(states.uses(), request.cost, now_ms, at_ms, mode);
  const bool force = mode == LimitMode::kForce;
  CountDecision(place, request, mode, result.decision);
  if (result.decision.shadow_denied != 0 && !force) [[unlikely]] {
    states.LeaveOut(result.decision.shadow_denied);
  }
  const bool taken = force || (mode != LimitMode::kPeek && result.decision.allowed);
  if (taken && request.cost > 0) {
    result.counted = states.MarkCounted();
    if (result.counted && !request.once.empty()) Remember(states, request);
  } else if (may_count || mode == LimitMode::kCount) {
    result.set_back = states.SetBack(now_ms);
  }
}

}  // namespace

bool Limits::DecideAlone(const LimitRequest& request, LimitResult& result) {
  const auto& [key, rules] = request.keys.front();
  bool counts = false;
  for (const LimitRule& rule : rules) {
    if (rule.shadow) return false;
    counts |= rule.counts();
  }
  State state(ScratchLimit(place_, 0));
  const Keyspace::Entry entry = place_.keyspace().FindForWrite(key, place_.now_ms);
  const bool right_type = state.Open(entry);
  if (right_type && state->holds() != nullptr) return false;
  LimitResult::Key& outcome = result.keys.emplace_back();
  outcome.name = key;
  outcome.found = static_cast<bool>(entry);
  outcome.wrong_type = result.wrong_type = !right_type;
  result.full = request.cost > 0 && right_type && !place_.replaying &&
                !HasRoomForRules(*state, rules, place_.now_ms);
  if (!right_type || result.full) return true;
  const auto [at_ms, now_ms] = request.time;
  const LimitUse use{&*state, rules};
  result.decision = DecideLimits({&use, 1}, request.cost, now_ms, at_ms, LimitMode::kTake);
  CountDecision(place_, request, LimitMode::kTake, result.decision);
  if (request.cost == 0) return true;
  if (result.decision.allowed) {
    result.counted = counts;
  } else {
    result.set_back = SetBackLimits({&use, 1}, now_ms);
  }
  if (!result.counted && !result.set_back) return true;
  // A late hit may be outside all windows; the state of a new key is then still empty.
  outcome.changed = state.exists() || !state->empty();
  outcome.removed =
      state.Store(place_.keyspace(), key, place_.now_ms, place_.engine.scratch().bytes);
  return true;
}

LimitResult Limits::Decide(const LimitRequest& request, LimitMode mode) {
  LimitResult result;
  const bool alone = mode == LimitMode::kTake && request.keys.size() == 1 && request.once.empty();
  if (alone && DecideAlone(request, result)) [[likely]]
    return result;
  LimitStates states(place_, result);
  const int64_t now_ms = request.time.judged_at_ms;
  if (!states.Open(request.keys, mode != LimitMode::kPeek, now_ms)) return result;
  const bool may_count = mode != LimitMode::kPeek && request.cost > 0;
  result.full = may_count && !place_.replaying && !states.HaveRoom();
  const bool known = !request.once.empty() && !place_.replaying && Knows(states, request, result);
  if (!result.full && !known) Judge(place_, states, request, mode, result);
  if (states.settled() && !result.counted && mode != LimitMode::kPeek) {
    // Logged as a hit of cost 0, whose replay sets back too.
    states.SetBack(now_ms);
    result.set_back = true;
  }
  if (result.counted || result.set_back) states.Store();
  return result;
}

KeyOutcome Limits::Give(std::string_view key, int64_t count, int64_t judged_at_ms,
                        int64_t not_after_ms) {
  KeyOutcome outcome;
  State state(ScratchLimit(place_, 0));
  outcome.wrong_type = !state.Open(place_.keyspace().FindForWrite(key, place_.now_ms));
  outcome.found = outcome.wrong_type || state.exists();
  if (outcome.wrong_type || !outcome.found || count == 0) return outcome;
  SettleHolds(*state, place_.engine.zones(), judged_at_ms);
  state->Give(count, judged_at_ms, not_after_ms);
  outcome.changed = true;
  outcome.removed =
      state.Store(place_.keyspace(), key, place_.now_ms, place_.engine.scratch().bytes);
  return outcome;
}

KeyOutcome Limits::Reset(std::string_view key) {
  const Keyspace::Entry entry = place_.keyspace().FindForWrite(key, place_.now_ms);
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
  const Keyspace::Entry entry = place_.keyspace().Find(key, place_.now_ms);
  outcome.found = static_cast<bool>(entry);
  outcome.wrong_type = !state.Open(entry);
  if (outcome.wrong_type) return outcome;
  if (HasEndedHolds(*state, place_.now_ms)) {
    shown = ShowLimits(SettledView(*state, place_.engine.zones(), place_.now_ms).state(),
                       place_.now_ms);
  } else {
    shown = ShowLimits(*state, place_.now_ms);
  }
  return outcome;
}

KeyOutcome Limits::Throttle(std::string_view key, const LimitRule& rule, int64_t quantity,
                            ThrottleReply& reply) {
  const KeyRules keys[] = {{key, {&rule, 1}}};
  const LimitResult result = Decide({.keys = keys,
                                     .cost = quantity,
                                     .time = EventInstants::Now(place_.now_ms),
                                     .command = Decisions::Command::kThrottle},
                                    LimitMode::kTake);
  reply = ThrottleReplyOf(result.decision);
  KeyOutcome outcome = result.keys.front();
  outcome.full = result.full;
  return outcome;
}

}  // namespace tally
