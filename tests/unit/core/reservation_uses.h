// The keys and rules of a random call of LIMIT, and what can be said of them alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/limit/rule_text.h"
#include "reservation_naive.h"

namespace tally::test {

inline constexpr std::array<std::string_view, 3> kReservedKeys{"a", "b", "c"};

struct ReservedUse {
  size_t key;
  std::vector<LimitRule> rules;
};

inline bool HasConcurrent(const ReservedUse& use) {
  return std::any_of(use.rules.begin(), use.rules.end(), [](const LimitRule& rule) {
    return rule.algorithm == LimitAlgorithm::kConcurrent;
  });
}

inline std::vector<KeyRules> RequestOf(const std::vector<ReservedUse>& uses) {
  std::vector<KeyRules> keys;
  for (const ReservedUse& use : uses) keys.push_back({kReservedKeys[use.key], use.rules});
  return keys;
}
inline std::string TextOf(const std::vector<ReservedUse>& uses) {
  std::string text;
  for (const ReservedUse& use : uses) {
    text += std::string(kReservedKeys[use.key]) + ":";
    for (const LimitRule& rule : use.rules) text += " " + RuleText(rule);
    text += " ";
  }
  return text;
}
inline std::vector<size_t> KeysOf(const std::vector<ReservedUse>& uses) {
  std::vector<size_t> keys;
  for (const ReservedUse& use : uses) {
    if (std::find(keys.begin(), keys.end(), use.key) == keys.end()) keys.push_back(use.key);
  }
  return keys;
}
inline std::vector<LimitRule> RulesOf(const std::vector<ReservedUse>& uses, size_t key) {
  std::vector<LimitRule> rules;
  for (const ReservedUse& use : uses) {
    if (use.key == key) rules.insert(rules.end(), use.rules.begin(), use.rules.end());
  }
  return rules;
}

// The most that HOLDS lets a hold take: its share of the smallest limit in force of its key.
inline int64_t MostOf(const std::vector<ReservedUse>& uses, size_t key, const LimitRule& holds) {
  int64_t most = kNaiveMax;
  for (const LimitRule& rule : RulesOf(uses, key)) {
    if (rule.shadow || !rule.judges() || rule.algorithm == LimitAlgorithm::kDeny) continue;
    const int64_t all = rule.counts() ? NaiveJudge({}, rule, 0, 0, 0).limit : rule.limit;
    most = std::min(most, std::max<int64_t>(1, all * holds.limit / kWholeShare));
  }
  return most;
}
// What HOLDS says of a hold of `cost` changes the answer: what is too large never fits, and the
// first rule that denies is the one that is shown.
inline LimitDecision WithHolds(const std::vector<ReservedUse>& uses, int64_t cost,
                               const LimitDecision& answer) {
  int place = 0;
  for (const ReservedUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      ++place;
      if (rule.algorithm != LimitAlgorithm::kHolds) continue;
      const int64_t most = MostOf(uses, use.key, rule);
      if (cost <= most) continue;
      LimitDecision denied = answer;
      if (answer.allowed || place < answer.rule) {
        denied = {.allowed = false, .limit = most, .remaining = most, .rule = place};
        denied.reset_after_ms = 0;
      }
      denied.retry_after_ms = -1;
      return denied;
    }
  }
  return answer;
}
inline int64_t LongestOf(const std::vector<ReservedUse>& uses) {
  int64_t longest = kNaiveMax;
  for (const ReservedUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      if (rule.algorithm == LimitAlgorithm::kHolds) longest = std::min(longest, rule.period_ms);
    }
  }
  return longest;
}

}  // namespace tally::test
