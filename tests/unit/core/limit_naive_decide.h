// Decisions over several keys, as limit_naive.h has each of their counters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "limit_naive.h"

namespace tally::test {

using NaiveKey = std::vector<NaiveCounter>;

struct NaiveUse {
  NaiveKey* key;
  std::vector<LimitRule> rules;
};

inline NaiveCounter NaiveFind(const NaiveKey& key, const LimitRule& rule) {
  const auto found =
      std::find_if(key.begin(), key.end(), [&](const auto& one) { return one.IsOf(rule); });
  return found == key.end() ? NaiveCounter(rule) : *found;
}

inline void NaiveCount(const NaiveUse& use, const LimitRule& rule, int64_t cost, int64_t now,
                       int64_t at, bool in_own_place) {
  NaiveCounter counter = NaiveFind(*use.key, rule);
  counter.Meet(now, at);
  const int64_t e = counter.JudgedAt(at);
  const int64_t horizon = counter.Horizon(now);
  if (in_own_place && at < now && counter.IsDropped(horizon, at)) return;
  if (in_own_place) {
    counter.Count(rule, cost, now, at, std::max(e, horizon));
  } else {
    counter.Count(rule, cost, now, e, e);
  }
  std::erase_if(*use.key, [&](const auto& one) { return one.IsOf(rule); });
  use.key->push_back(counter);
}

// The rules with what those that share a counter agree on, in any order of them: the slowest
// refill, and windows from the smallest base on.
inline LimitRule NaiveAgreed(const std::vector<NaiveUse>& uses, const NaiveKey* key,
                             LimitRule rule) {
  for (const NaiveUse& use : uses) {
    for (const LimitRule& other : use.rules) {
      if (use.key != key || !NaiveCounter(rule).IsOf(other)) continue;
      rule.refill = std::min(rule.refill, other.refill);
      const bool lockout = rule.algorithm == LimitAlgorithm::kLockout;
      rule.shared_base = std::min(rule.shared_base, lockout ? other.limit : other.base);
      rule.block.first_ms = std::max(rule.block.first_ms, other.block.first_ms);
      rule.block.factor = std::max(rule.block.factor, other.block.factor);
      rule.block.most_ms = std::max(rule.block.most_ms, other.block.most_ms);
      if (rule.block.most_ms > 0) {
        rule.block.most_ms = std::max(rule.block.most_ms, rule.block.first_ms);
      }
    }
  }
  return rule;
}

// One rule's figures: after the hit if it is allowed, else before it.
inline LimitDecision NaiveJudge(const NaiveKey& key, const LimitRule& rule, int64_t cost,
                                int64_t now, int64_t at) {
  if (rule.algorithm == LimitAlgorithm::kDeny) {
    return {
        .allowed = false, .limit = 0, .remaining = 0, .retry_after_ms = -1, .reset_after_ms = 0};
  }
  NaiveCounter counter = NaiveFind(key, rule);
  counter.Meet(now, at);
  const int64_t e = counter.JudgedAt(at);
  LimitDecision decision;
  decision.allowed = counter.Fits(rule, cost, e);
  decision.limit = NaiveCounter(rule).Remaining(rule, e);
  if (decision.allowed && cost > 0) {
    counter.Count(rule, cost, now, e, e);
  } else if (!decision.allowed) {
    decision.retry_after_ms =
        NaiveCounter(rule).Fits(rule, cost, e) ? counter.EarliestFit(rule, cost, e) - e : -1;
  }
  decision.remaining = counter.Remaining(rule, e);
  decision.reset_after_ms = counter.UnusedFrom(rule, e) - e;
  return decision;
}

// Rules in SHADOW deny nothing; with kTake those that would have are not counted.
inline LimitDecision NaiveDecide(const std::vector<NaiveUse>& uses, int64_t cost, int64_t now,
                                 int64_t at, LimitMode mode) {
  at = std::min(at, now);
  LimitDecision answer;
  int place = 0;
  std::vector<NaiveUse> counting;
  for (const NaiveUse& use : uses) {
    std::vector<LimitRule>& counts = counting.emplace_back(NaiveUse{use.key, {}}).rules;
    for (const LimitRule& given : use.rules) {
      ++place;
      if (!given.judges()) continue;
      const LimitRule rule = NaiveAgreed(uses, use.key, given);
      const LimitDecision own = NaiveJudge(*use.key, rule, cost, now, at);
      const bool left_out = given.shadow && !own.allowed && mode == LimitMode::kTake;
      if (given.counts() && !left_out) counts.push_back(given);
      if (given.shadow) continue;
      const bool shown =
          own.allowed ? answer.allowed && (answer.remaining < 0 || own.remaining < answer.remaining)
                      : answer.allowed;
      if (shown) {
        answer.limit = own.limit;
        answer.remaining = own.remaining;
        answer.reset_after_ms = own.reset_after_ms;
      }
      if (own.allowed) continue;
      if (answer.allowed) answer.rule = place;
      answer.allowed = false;
      const bool never = answer.retry_after_ms < 0 || own.retry_after_ms < 0;
      answer.retry_after_ms = never ? -1 : std::max(answer.retry_after_ms, own.retry_after_ms);
    }
  }
  if (mode == LimitMode::kPeek || cost == 0) return answer;
  if (mode == LimitMode::kTake && !answer.allowed) return answer;
  std::vector<std::pair<const NaiveKey*, NaiveCounter>> counted;
  for (const NaiveUse& use : counting) {
    for (const LimitRule& rule : use.rules) {
      const bool already = std::any_of(counted.begin(), counted.end(), [&](const auto& one) {
        return one.first == use.key && one.second.IsOf(rule);
      });
      if (already) continue;
      counted.emplace_back(use.key, NaiveCounter(rule));
      NaiveCount(use, NaiveAgreed(counting, use.key, rule), cost, now, at,
                 mode == LimitMode::kForce);
    }
  }
  return answer;
}

}  // namespace tally::test
