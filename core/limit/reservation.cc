#include "core/limit/reservation.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/check.h"
#include "core/base/saturating.h"
#include "core/limit/hold_refunds.h"
#include "core/limit/refund.h"
#include "core/time/duration.h"

namespace tally {
namespace {

HoldRules RulesOf(const HoldRecord& record, ZoneSource& zones) {
  HoldRules rules;
  Check(ReadHoldRules(record.rules, zones, rules), "the rules of a record are well formed");
  return rules;
}

// Gives back `amount` of what the part has counted, and takes it off the part.
void RefundPart(LimitState& state, const HoldCounters& counters, HoldPart& part, int64_t amount,
                int64_t now_ms) {
  for (size_t i = 0; i < part.shares.size(); ++i) {
    HoldShare& share = part.shares[i];
    LimitCounter* counter = state.Find(counters.keys[i]);
    const int64_t in_window = std::min(amount, share.in_window);
    const bool bucket = counters.keys[i].algorithm == LimitAlgorithm::kBucket;
    if (counter != nullptr) {
      Refund(*counter, {amount, bucket ? share.in_window : in_window, share.at_ms, now_ms});
    }
    share.in_window -= in_window;
  }
  part.cost -= amount;
}

// Gives back `amount`, what was taken last first.
void RefundNewest(LimitState& state, HoldRecord& record, int64_t amount, int64_t now_ms) {
  if (amount == 0) return;
  for (auto part = record.parts.rbegin(); part != record.parts.rend() && amount > 0; ++part) {
    const int64_t taken = std::min(amount, part->cost);
    RefundPart(state, record.counters, *part, taken, now_ms);
    amount -= taken;
  }
}

// Takes `amount` off the hold without giving it back, what was taken first first. Parts of which
// nothing is held are forgotten: or else they would say from when on it is held.
void Consume(HoldRecord& record, int64_t amount) {
  const HoldKeys& keys = record.counters.keys;
  for (HoldPart& part : record.parts) {
    const int64_t taken = std::min(amount, part.cost);
    part.cost -= taken;
    for (size_t i = 0; i < part.shares.size(); ++i) {
      if (keys[i].algorithm == LimitAlgorithm::kBucket) continue;
      // The hits of BASE that are free come first.
      HoldShare& share = part.shares[i];
      share.in_window = std::min(share.in_window, part.cost);
    }
    amount -= taken;
  }
  const auto spent = [](const HoldPart& part) { return part.cost == 0; };
  if (record.parts.size() < 2) return;
  const auto first = record.parts.front();
  record.parts.erase(std::remove_if(record.parts.begin(), record.parts.end(), spent),
                     record.parts.end());
  if (record.parts.empty()) record.parts.push_back(first);
}

// Leaves of a hold that is over what is remembered: until Holds::kRememberedMs after its deadline,
// whenever it was settled before that.
void LeaveRemains(HoldRecord& record, const Settled& settled, HoldState state, int64_t now_ms) {
  const bool is_held = record.state == HoldState::kHeld;
  const int64_t least_ms = (is_held ? record.until_ms : now_ms) + Holds::kRememberedMs;
  record.until_ms = ForgottenFrom(std::max(record.until_ms, least_ms));
  record.state = state;
  record.parts.clear();
  record.token = 0;
  if (state == HoldState::kCommitted) {
    record.rules.clear();
    record.counters = {};
  }
  record.held = settled.held;
  record.counted = settled.counted;
}

// Returns whether there were holds from after `now_ms`.
bool SetBackHolds(LimitState& state, ZoneSource& zones, int64_t now_ms) {
  Holds& holds = *state.holds();
  HoldCountersReader counters;
  const std::vector<std::string> ahead = holds.AheadOf(now_ms);
  for (const std::string& id : ahead) {
    HoldRecord record;
    Check(holds.Find(id, counters, record), "an id that is ahead is known");
    const HoldRules rules = RulesOf(record, zones);
    const LimitUse use{&state, rules};
    SetBackLimits({&use, 1}, now_ms);
    int64_t ahead_ms = 0;
    for (HoldPart& part : record.parts) {
      ahead_ms = std::max(ahead_ms, part.at_ms - now_ms);
      part.at_ms = std::min(part.at_ms, now_ms);
      for (HoldShare& share : part.shares) share.at_ms = std::min(share.at_ms, now_ms);
    }
    // Erased first, because it may end earlier than it did.
    holds.Erase(id);
    record.until_ms = std::max<int64_t>(0, record.until_ms - ahead_ms);
    SetBackLatest(record.rules, ahead_ms);
    holds.Add(id, record);
  }
  holds.NoteSetBack(now_ms);
  return !ahead.empty();
}

// The counters of a key for which nobody says by which rules they are judged.
void CountInAll(LimitState& state, int64_t cost, int64_t now_ms) {
  state.Prune(now_ms);
  for (LimitCounter& counter : state.counters()) counter.CountMore(cost, now_ms);
}

}  // namespace

bool SettleHolds(LimitState& state, ZoneSource& zones, int64_t now_ms, uint64_t* ended_count) {
  Holds* holds = state.holds();
  if (!HasEndedHolds(state, now_ms)) return false;
  bool changed = holds->IsAhead(now_ms) && SetBackHolds(state, zones, now_ms);
  HoldRefunds refunds(state);
  changed |= holds->End(now_ms, [&](const HoldView& hold, const HoldCountersReader& rules) {
    if (ended_count != nullptr) ++*ended_count;
    refunds.Add(hold, rules, hold.deadline_ms());
  });
  refunds.Apply();
  // What HasEndedHolds goes by are bounds, which may be wider than those of the same state after a
  // load. A state in which nothing has ended must stay as it is, or the two would differ.
  if (!changed) return false;
  state.Prune(now_ms);
  state.DropEmptyHolds();
  return true;
}

int64_t HoldHits(const LimitUse& use, const HoldTerms& terms, HoldCountersReader& counters,
                 int64_t now_ms, int64_t at_ms) {
  HoldRecord record;
  record.state = HoldState::kHeld;
  record.until_ms = terms.deadline_ms;
  record.keys = terms.keys;
  // The shares are in the order of the saved rules.
  HoldRules sorted;
  std::span<const LimitRule> rules = use.rules;
  if (std::ranges::any_of(rules, std::mem_fn(&LimitRule::shadow))) [[unlikely]] {
    sorted.assign(rules.begin(), rules.end());
    std::stable_partition(sorted.begin(), sorted.end(), std::not_fn(&LimitRule::shadow));
    rules = sorted;
  }
  record.parts.push_back(CountHits({use.state, rules}, terms.cost, now_ms, at_ms, false));
  AppendHoldRules(record.rules, rules, now_ms);
  record.counters = counters.Of(record.rules);
  Holds& holds = use.state->FindOrAddHolds();
  record.token = holds.NextToken(now_ms);
  holds.Add(terms.id, record);
  use.state->Prune(now_ms);
  return record.token;
}

void ExtendHold(LimitState& state, ZoneSource& zones, std::string_view id, HoldRecord& record,
                int64_t more, int64_t deadline_ms, int64_t now_ms) {
  record.until_ms = std::max(record.until_ms, deadline_ms);
  if (more > 0) {
    const HoldRules rules = RulesOf(record, zones);
    record.parts.push_back(CountHits({&state, rules}, more, now_ms, now_ms, false));
    Consume(record, 0);
  }
  state.holds()->Put(id, record);
  state.Prune(now_ms);
}

Settled CommitHold(LimitState& state, ZoneSource& zones, const CommitTerms& terms,
                   HoldRecord& record, int64_t now_ms) {
  Settled result;
  result.found = record.state;
  if (record.state == HoldState::kCommitted) {
    result.held = record.held;
    result.counted = record.counted;
    return result;
  }
  const bool is_held = record.state == HoldState::kHeld;
  if (!is_held && !terms.force) return result;
  result.done = true;
  result.held = is_held ? record.cost() : 0;
  result.counted = terms.counted;
  if (record.state == HoldState::kUnknown) {
    CountInAll(state, terms.counted, now_ms);
    record.until_ms = now_ms;
    record.keys = terms.keys;
  } else {
    const int64_t at_ms = is_held && !terms.late ? record.parts.front().at_ms : now_ms;
    int64_t more = terms.counted;
    if (is_held && terms.late) {
      RefundNewest(state, record, terms.keep ? std::min(terms.counted, result.held) : result.held,
                   now_ms);
      Consume(record, 0);
    } else if (is_held) {
      const int64_t from_held = std::min(terms.counted, result.held);
      Consume(record, from_held);
      more -= from_held;
      if (!terms.keep) RefundNewest(state, record, record.cost(), now_ms);
    }
    if (more > 0) CountHits({&state, RulesOf(record, zones)}, more, now_ms, at_ms, true);
  }
  if (is_held && terms.keep) {
    record.counted = SaturatingAdd(record.counted, terms.counted);
    state.holds()->Put(terms.id, record);
  } else {
    LeaveRemains(record, result, HoldState::kCommitted, now_ms);
    state.FindOrAddHolds().Put(terms.id, record);
  }
  state.Prune(now_ms);
  return result;
}

Settled CancelHold(LimitState& state, std::string_view id, HoldRecord& record, int64_t now_ms) {
  Settled result;
  result.found = record.state;
  if (record.state != HoldState::kHeld) return result;
  result.done = true;
  result.held = record.cost();
  RefundNewest(state, record, result.held, now_ms);
  LeaveRemains(record, result, HoldState::kCancelled, now_ms);
  state.holds()->Put(id, record);
  state.Prune(now_ms);
  return result;
}

void RememberHit(const LimitUse& use, const HoldTerms& terms, int64_t now_ms) {
  HoldRecord record;
  record.state = HoldState::kCommitted;
  record.until_ms = SaturatingAdd(now_ms, Holds::kRememberedMs);
  record.counted = terms.cost;
  record.keys = terms.keys;
  for (const LimitRule& rule : use.rules) {
    if (!rule.counts()) continue;
    const LimitCounter* counter = use.state->Find(LimitKey::Of(rule));
    if (counter != nullptr) record.until_ms = std::max(record.until_ms, counter->ExpiresAt());
  }
  record.until_ms = ForgottenFrom(record.until_ms);
  use.state->FindOrAddHolds().Add(terms.id, record);
}

}  // namespace tally
