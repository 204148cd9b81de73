#include "core/engine/reservations.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "core/base/saturating.h"
#include "core/engine/decisions.h"
#include "core/engine/found_ids.h"
#include "core/engine/limit_states.h"
#include "core/limit/hold_cap.h"

namespace tally {
namespace {

constexpr size_t kMostParts = 1'000;

// Stores what has changed; holds that have ended are a change too.
void Finish(LimitStates& states, LimitResult& result) {
  result.set_back = states.settled() && !result.counted;
  if (result.counted || result.set_back) states.Store();
}

// Whether the call's id is held on its keys by the same call; if not, says what is wrong.
bool IsSame(LimitStates& states, const HoldRequest& request, const FoundIds& found,
            HoldResult& result) {
  if (!found.AllAre(HoldState::kHeld) || !found.AreAllKeys()) {
    result.wrong = kOtherKeys;
    return false;
  }
  for (size_t i = 0; i < states.size(); ++i) {
    const HoldRecord& record = found.records[i];
    std::string rules;
    HoldRules room;
    AppendDenyingRules(rules, states.RulesOf(i, room));
    if (rules != std::string_view(record.rules).substr(0, record.counters.denying_bytes)) {
      result.wrong = "rule must be what the id is held under";
    } else if (SaturatingAdd(record.cost(), record.counted) != request.limits.cost) {
      result.wrong = "COST must be what the id holds";
    }
  }
  return result.wrong.empty();
}

// Answers for an id that the keys know already. Returns false if none of them does.
bool AnswerKnown(LimitStates& states, const FoundIds& found, const HoldRequest& request,
                 HoldResult& result) {
  if (found.AllAre(HoldState::kUnknown)) [[likely]]
    return false;
  result.settled_as = found.settled();
  if (result.settled_as != HoldState::kUnknown || !IsSame(states, request, found, result)) {
    return true;
  }
  result.decision = AllowedNow(states.uses(), request.limits.time.judged_at_ms);
  result.token = found.records.front().token;
  return true;
}

// What is wrong with an extension; empty if nothing.
std::string_view ExtensionError(const FoundIds& found, int64_t more) {
  if (!found.AllAre(HoldState::kHeld)) return "id is not held";
  if (!found.AreAllKeys()) return kOtherKeys;
  for (const HoldRecord& record : found.records) {
    int64_t sum = 0;
    if (__builtin_add_overflow(record.cost(), more, &sum)) return "COST is too large";
    if (more > 0 && record.parts.size() >= kMostParts) return "COST was added too often";
  }
  return {};
}

// The latest deadline that a HOLDS of the keys allows.
int64_t LatestOf(const FoundIds& found) {
  int64_t latest_ms = INT64_MAX;
  for (const HoldRecord& record : found.records) {
    latest_ms = std::min(latest_ms, LatestDeadline(record.rules));
  }
  return latest_ms;
}

}  // namespace

// Decides a RESERVE. Returns false if there is nothing to decide.
bool Reservations::Judge(LimitStates& states, const HoldRequest& request, HoldResult& result) {
  const FoundIds found(states, request.id);
  if (AnswerKnown(states, found, request, result)) return false;
  const auto [at_ms, now_ms] = request.limits.time;
  const int64_t longest_ms = LongestHold(states.uses());
  if (request.ttl_ms > longest_ms) result.longest_ms = longest_ms;
  result.full = !states.HaveRoom();
  if (!HaveRoomForId(states, request.limits.max_holds)) result.wrong = kTooMany;
  if (result.full || !result.wrong.empty() || result.longest_ms >= 0) return false;
  result.decision = DecideLimits(states.uses(), request.limits.cost, now_ms, at_ms,
                                 LimitMode::kPeek, now_ms + request.ttl_ms);
  JudgeHoldShare(states.uses(), request.limits.cost, result.decision);
  place_.engine.decisions().Count(Decisions::Command::kReserve, request.limits.keys,
                                  result.decision, {place_.database, place_.now_ms});
  if (result.decision.shadow_denied != 0) states.LeaveOut(result.decision.shadow_denied);
  return true;
}

void Reservations::Count(uint64_t Decisions::HoldCount::* count) const {
  if (!place_.replaying) ++(place_.engine.decisions().holds().*count);
}

// Decides an EXTEND of a hold, of which this is the record, under its rules.
void Reservations::JudgeMore(std::span<const LimitUse> uses, const HoldRequest& request,
                             const HoldRecord& held, HoldResult& result) {
  const int64_t now_ms = request.limits.time.judged_at_ms;
  const int64_t more = request.limits.cost;
  if (more == 0 || place_.replaying) return;
  result.decision = DecideLimits(uses, more, now_ms, now_ms, LimitMode::kPeek);
  JudgeHoldShare(uses, SaturatingAdd(held.cost(), more), result.decision);
  // What fits only when the hold itself has ended is never allowed.
  int64_t& retry_after_ms = result.decision.retry_after_ms;
  if (retry_after_ms > 0 && retry_after_ms >= held.until_ms - now_ms) retry_after_ms = -1;
}

HoldResult Reservations::Reserve(const HoldRequest& request) {
  HoldResult result;
  LimitStates states(place_, result);
  const auto [at_ms, now_ms] = request.limits.time;
  const int64_t cost = request.limits.cost;
  if (!states.Open(request.limits.keys, true, now_ms)) return result;
  if (!place_.replaying && !Judge(states, request, result)) {
    Finish(states, result);
    return result;
  }
  result.counted = result.decision.allowed;
  for (size_t i = 0; result.counted && i < states.size(); ++i) {
    HoldRules room;
    const std::span<const LimitRule> rules = states.RulesOf(i, room);
    const HoldTerms terms{.id = request.id,
                          .cost = cost,
                          .deadline_ms = now_ms + request.ttl_ms,
                          .keys = static_cast<int64_t>(states.size())};
    const int64_t token =
        HoldHits({&states.state(i), rules}, terms, states.hold_counters(), now_ms, at_ms);
    if (i == 0) result.token = token;
    states.MarkChanged(i);
    Count(&Decisions::HoldCount::reserved);
  }
  Finish(states, result);
  return result;
}

HoldResult Reservations::Extend(const HoldRequest& request) {
  HoldResult result;
  LimitStates states(place_, result);
  const int64_t now_ms = request.limits.time.judged_at_ms;
  const int64_t more = request.limits.cost;
  if (!states.Open(request.limits.keys, true, now_ms)) return result;
  FoundIds found(states, request.id);
  result.settled_as = found.settled();
  if (result.settled_as == HoldState::kUnknown) result.wrong = ExtensionError(found, more);
  const bool held = result.settled_as == HoldState::kUnknown && result.wrong.empty();
  if (held && !place_.replaying && LatestOf(found) < now_ms + request.ttl_ms) {
    result.longest_ms = std::max<int64_t>(0, LatestOf(found) - now_ms);
  }
  if (held && result.longest_ms < 0) {
    std::vector<HoldRules> rules(states.size());
    std::vector<LimitUse> uses;
    for (size_t i = 0; i < states.size(); ++i) {
      static_cast<void>(ReadHoldRules(found.records[i].rules, place_.engine.zones(), rules[i]));
      uses.push_back({&states.state(i), rules[i]});
    }
    JudgeMore(uses, request, found.records.front(), result);
    result.counted = result.decision.allowed;
    for (size_t i = 0; result.counted && i < states.size(); ++i) {
      ExtendHold(states.state(i), place_.engine.zones(), request.id, found.records[i], more,
                 now_ms + request.ttl_ms, now_ms);
      states.MarkChanged(i);
    }
    if (result.counted) {
      result.token = found.records.front().token;
      result.decision = AllowedNow(uses, now_ms);
    }
  }
  Finish(states, result);
  return result;
}

SettleResult Reservations::Commit(const CommitRequest& request, int64_t now_ms) {
  SettleResult result;
  LimitStates states(place_, result);
  if (!states.Open(request.keys, true, now_ms)) return result;
  FoundIds found(states, request.id);
  const bool same = found.AllAre(found.records.front().state);
  if (!place_.replaying) {
    if (!found.AreAllKeys() || (!same && !request.force)) result.wrong = kOtherKeys;
    const bool adds = request.force && !found.AllAre(HoldState::kHeld);
    if (adds && !HaveRoomForId(states, request.max_holds)) result.wrong = kTooMany;
  }
  for (size_t i = 0; result.wrong.empty() && i < states.size(); ++i) {
    HoldRecord& record = found.records[i];
    int64_t held = record.state == HoldState::kHeld ? record.cost() : record.held;
    if (record.state == HoldState::kUnknown) held = 1;
    const Settled settled = CommitHold(states.state(i), place_.engine.zones(),
                                       {.id = request.id,
                                        .counted = request.cost.value_or(held),
                                        .late = request.late,
                                        .keep = request.keep,
                                        .force = request.force,
                                        .keys = static_cast<int64_t>(states.size())},
                                       record, now_ms);
    if (i == 0) result.settled = settled;
    if (settled.done) {
      states.MarkChanged(i);
      Count(&Decisions::HoldCount::committed);
    }
    result.counted |= settled.done;
  }
  Finish(states, result);
  return result;
}

SettleResult Reservations::Cancel(std::string_view id, std::span<const KeyRules> keys,
                                  int64_t now_ms) {
  SettleResult result;
  LimitStates states(place_, result);
  if (!states.Open(keys, true, now_ms)) return result;
  FoundIds found(states, id);
  const bool same = found.AllAre(found.records.front().state);
  if (!place_.replaying && (!same || !found.AreAllKeys())) result.wrong = kOtherKeys;
  for (size_t i = 0; result.wrong.empty() && i < states.size(); ++i) {
    const Settled settled = CancelHold(states.state(i), id, found.records[i], now_ms);
    if (i == 0) result.settled = settled;
    if (settled.done) {
      states.MarkChanged(i);
      Count(&Decisions::HoldCount::cancelled);
    }
    result.counted |= settled.done;
  }
  Finish(states, result);
  return result;
}

KeyOutcome Reservations::Held(std::string_view key, std::vector<HeldShown>& held) {
  KeyOutcome outcome;
  CompactValue<LimitState> state(ScratchLimit(place_, 0));
  const Keyspace::Entry entry = place_.keyspace().Find(key, place_.now_ms);
  outcome.found = static_cast<bool>(entry);
  outcome.wrong_type = !state.Open(entry);
  if (outcome.wrong_type || state->holds() == nullptr) return outcome;
  state->holds()->ForEach([&](std::string_view id, const HoldRecord& record) {
    if (record.state != HoldState::kHeld || record.until_ms <= place_.now_ms) return;
    held.push_back({std::string(id), record.cost(), record.parts.front().at_ms, record.until_ms,
                    record.token});
  });
  // By id too: of a state that was loaded, two may have the same token.
  std::sort(held.begin(), held.end(), [](const HeldShown& a, const HeldShown& b) {
    return std::tie(a.token, a.id) < std::tie(b.token, b.id);
  });
  return outcome;
}

}  // namespace tally
