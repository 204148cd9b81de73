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

// What HOLDS says of a hold of `cost` changes the answer: it never fits. No hold may be larger
// than a share of any limit in force of its key.
inline void JudgeShares(const std::vector<ReservedUse>& uses, int64_t cost, LimitDecision& answer) {
  int place = 0;
  for (const ReservedUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      ++place;
      if (rule.algorithm != LimitAlgorithm::kHolds) continue;
      int64_t most = kNaiveMax;
      for (const LimitRule& limit : RulesOf(uses, use.key)) {
        if (limit.shadow || !limit.judges() || limit.algorithm == LimitAlgorithm::kDeny) continue;
        const bool counts = limit.counts();
        const int64_t all = counts ? NaiveJudge({}, limit, 0, 0, 0).limit : limit.limit;
        most = std::min(most, std::max<int64_t>(1, all * rule.limit / kWholeShare));
      }
      if (cost <= most) continue;
      if (answer.allowed || place < answer.rule) {
        answer.limit = answer.remaining = most;
        answer.reset_after_ms = 0;
        answer.rule = place;
      }
      answer.allowed = false;
      answer.retry_after_ms = -1;
    }
  }
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
