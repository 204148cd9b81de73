// Counts what the engine decides: how often something was allowed and denied, by command, algorithm
// and policy, and who was denied.
//
// Only decisions that were to take something are counted: not those that only ask, and not those
// that are replayed from a log. A denial counts once under its command, and once under the first
// rule that denied. An allowed decision counts once under its command and, for each of its keys,
// once under each algorithm and each policy that judged the key. The counts of a policy are in its
// PolicyTally; policies that share one count as one. What a rule in SHADOW would have denied counts
// once under the command and once under its algorithm and policy, and not as allowed there, whether
// or not another rule denied it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/engine/denials.h"
#include "core/limit/limit.h"
#include "core/limit/limit_rule.h"
#include "core/limit/policy_table.h"

namespace tally {

class Decisions {
 public:
  enum class Command : uint8_t { kTake, kForce, kThrottle, kBuy, kReserve };
  static constexpr size_t kCommands = 5;

  // `seed` keys the hashes of denied keys.
  explicit Decisions(uint64_t seed) : denials_(seed) {}

  // Where and when something is decided; `now_ms` is in unix ms.
  struct Where {
    size_t database = 0;
    int64_t now_ms = 0;
  };
  // Counts a decision over the rules of the keys. A denied decision counts as denied even if kForce
  // took the hits.
  void Count(Command command, std::span<const KeyRules> keys, const LimitDecision& decision,
             const Where& where);
  // What became of holds.
  struct HoldCount {
    uint64_t reserved = 0;
    uint64_t committed = 0;
    uint64_t cancelled = 0;
    uint64_t ended = 0;  // by their deadlines, when somebody looked
  };
  HoldCount& holds() { return holds_; }
  const HoldCount& holds() const { return holds_; }

  // Counts an allowed purchase from a quota book.
  void CountSold() { ++Of(Command::kBuy).allowed; }
  // Counts a purchase that a limit of the book did not allow. `limit` is a text that names the
  // limit and the user.
  void CountUnsold(std::string_view book, std::string_view limit, const Where& where);

  const DecisionCount& by_command(Command command) const {
    return by_command_[static_cast<size_t>(command)];
  }
  const DecisionCount& by_algorithm(LimitAlgorithm algorithm) const {
    return by_algorithm_[static_cast<size_t>(algorithm)];
  }
  Denials& denials() { return denials_; }
  const Denials& denials() const { return denials_; }

 private:
  DecisionCount& Of(Command command) { return by_command_[static_cast<size_t>(command)]; }
  DecisionCount& Of(const LimitRule& rule) {
    return by_algorithm_[static_cast<size_t>(rule.algorithm)];
  }
  void CountDenied(std::span<const KeyRules> keys, int rule, const Where& where);
  // Counts a denial of the rule at `index` of a key.
  void AddDenial(const KeyRules& key, size_t index, const Where& where);
  void CountShadows(Command command, std::span<const KeyRules> keys, const LimitDecision& decision,
                    const Where& where);
  void CountAllowed(std::span<const LimitRule> rules);

  std::array<DecisionCount, kCommands> by_command_{};
  std::array<DecisionCount, kLimitAlgorithms> by_algorithm_{};
  HoldCount holds_;
  Denials denials_;
};

// "limit.take", "limit.force", "cl.throttle", "quota.buy" or "limit.reserve".
std::string_view NameOf(Decisions::Command command);

}  // namespace tally
