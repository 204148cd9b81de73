#include "core/engine/limits.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "core/engine/decisions.h"
#include "core/engine/limit_states.h"
#include "core/engine/scratch.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/limit_state.h"

namespace tally {
namespace {

using State = CompactValue<LimitState>;

}  // namespace

LimitResult Limits::Decide(const LimitRequest& request, LimitMode mode) {
  LimitResult result;
  LimitStates states(place_, result);
  const int64_t now = request.time.judged_at;
  if (!states.Open(request.keys, mode != LimitMode::kPeek, now)) return result;
  const bool may_count = mode != LimitMode::kPeek && request.cost > 0;
  result.full = may_count && !place_.replaying && !states.HaveRoom();
  if (result.full) {
    result.set_back = states.settled();
    if (result.set_back) states.Store();
    return result;
  }
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
  result.set_back |= states.settled() && !result.counted && mode != LimitMode::kPeek;
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
  std::unique_ptr<LimitState> view;
  if (HasEndedHolds(*state, place_.now)) {
    view = state->Clone();
    SettleHolds(*view, place_.engine.zones(), place_.now);
  }
  shown = ShowLimits(view == nullptr ? *state : *view, place_.now);
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
  outcome.changed = settled || !reply.limited || SetBackLimits({&use, 1}, place_.now);
  if (!outcome.changed) return outcome;
  outcome.removed = state.Store(place_.keyspace(), key, place_.now, place_.engine.scratch().bytes);
  return outcome;
}

}  // namespace tally
