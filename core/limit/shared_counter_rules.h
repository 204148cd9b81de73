// What rules of one command that share a counter agree on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "core/limit/limit.h"

namespace tally {

// The rules of a command. Rules that share a counter all use the smallest refill and the smallest
// base that one of them has; of LOCKOUT, the block that starts at the smallest limit, and is as
// long as the longest.
class SharedCounterRules {
 public:
  explicit SharedCounterRules(std::span<const LimitUse> uses)
      : uses_(uses), alone_(uses.size() == 1 && uses.front().rules.size() == 1) {}

  // Whether there is one rule.
  bool alone() const { return alone_; }
  // Returns the rule with the agreed values; valid until the next call.
  const LimitRule& Of(const LimitUse& use, const LimitRule& rule) {
    if (alone_) return rule;
    switch (rule.algorithm) {
      case LimitAlgorithm::kBucket:
      case LimitAlgorithm::kBase:
      case LimitAlgorithm::kLockout:
        return Agree(use, rule);
      default:
        return rule;
    }
  }

 private:
  static int64_t OwnBase(const LimitRule& rule) {
    return rule.algorithm == LimitAlgorithm::kLockout ? rule.limit : rule.base;
  }

  const LimitRule& Agree(const LimitUse& own, const LimitRule& rule) {
    int64_t refill = rule.refill;
    int64_t base = OwnBase(rule);
    LockoutBlock block = rule.block;
    for (const LimitUse& use : uses_) {
      if (use.state != own.state) continue;
      for (const LimitRule& other : use.rules) {
        if (&other == &rule || other.algorithm != rule.algorithm) continue;
        if (LimitKey::Of(other) != LimitKey::Of(rule)) continue;
        refill = std::min(refill, other.refill);
        base = std::min(base, OwnBase(other));
        block.first_ms = std::max(block.first_ms, other.block.first_ms);
        block.factor = std::max(block.factor, other.block.factor);
        block.most_ms = std::max(block.most_ms, other.block.most_ms);
      }
    }
    if (refill == rule.refill && base == OwnBase(rule) && block == rule.block) return rule;
    // Blocks that do not grow may be longer than the most of those that do.
    if (block.most_ms > 0) block.most_ms = std::max(block.most_ms, block.first_ms);
    agreed_ = rule;
    agreed_->refill = refill;
    agreed_->shared_base = base;
    agreed_->block = block;
    return *agreed_;
  }

  std::span<const LimitUse> uses_;
  bool alone_;
  std::optional<LimitRule> agreed_;
};

}  // namespace tally
