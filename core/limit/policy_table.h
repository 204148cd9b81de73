// The policies: named rules, and how often they have allowed and denied. A policy is kept as the
// words in which it was given, and as the rules that they mean, so that no decision reads words.
// The table does not know what words mean; callers check and compile them (see RuleParser).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limit/limit_rule.h"

namespace tally {

struct DecisionCount {
  uint64_t allowed = 0;
  uint64_t denied = 0;
  uint64_t shadow_denied = 0;  // what rules in SHADOW would have denied
};

// How often the rules of a policy have allowed and denied, since the policy was first set or since
// the start of the program. Several policies may share one tally.
struct PolicyTally {
  std::string name;
  DecisionCount count;
};

using StoredWords = std::vector<std::string>;

class Policy {
 public:
  const StoredWords& words() const { return words_; }
  // What the words mean; empty if nobody has compiled them since they were loaded.
  std::span<const LimitRule> rules() const { return rules_; }
  PolicyTally& tally() const { return *tally_; }
  // Keeps the compiled rules, unless a zone is missing: the time zones may be installed later.
  void SetRules(std::span<const LimitRule> rules);

 private:
  friend class PolicyTable;

  StoredWords words_;
  std::vector<LimitRule> rules_;
  std::unique_ptr<PolicyTally> own_tally_;  // null if the policy uses the shared one
  PolicyTally* tally_ = nullptr;            // never null in a table
};

class PolicyTable {
 public:
  // At most this many policies have a tally of their own; their names have at most kMaxTallyName
  // bytes. All other policies share the tally that is named kOthers, as does a policy of that name.
  static constexpr size_t kMaxTallies = 1000;
  static constexpr size_t kMaxTallyName = 128;
  static constexpr std::string_view kOthers = "other";

  // Replaces what is there. O(log policies).
  Policy& Set(std::string_view name, StoredWords words);
  // Returns null if there is no such policy. O(1). Valid until the table changes; a tally of its
  // own until the policy is erased, the shared one as long as the table.
  Policy* Find(std::string_view name);
  // Returns false if there is no such policy.
  bool Erase(std::string_view name);
  void Clear();
  size_t size() const { return policies_.size(); }
  // 16 hexadecimal digits that are the same for tables with the same names and words, in whichever
  // order they were set and wherever. O(1). They show that two servers differ, and are no proof
  // against somebody who chooses the words.
  std::string DigestText() const;

  // Calls visit(name, words) for each, in the order of their names.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [name, policy] : policies_) visit(std::string_view(name), policy.words_);
  }
  // Calls visit(tally) for each tally in use: at most kMaxTallies in the order of the policies'
  // names, and then the shared one.
  template <typename Visit>
  void ForEachTally(Visit&& visit) const {
    for (const auto& [name, policy] : policies_) {
      if (policy.own_tally_ != nullptr) visit(*policy.own_tally_);
    }
    if (tallies_ < policies_.size()) visit(*others_);
  }

  // Appends a policy's saved form.
  static void Save(std::string_view name, const StoredWords& words, std::string& out);
  // Sets the policy that Save wrote; false if the bytes are malformed.
  [[nodiscard]] bool Load(std::string_view bytes);

 private:
  std::map<std::string, Policy, std::less<>> policies_;
  // The same by hash, because a decision that names a policy is to cost no more than its rules.
  absl::flat_hash_map<std::string_view, Policy*> by_name_;
  size_t tallies_ = 0;
  uint64_t digest_ = 0;  // exclusive or of the policies' hashes
  std::unique_ptr<PolicyTally> others_ =
      std::make_unique<PolicyTally>(PolicyTally{std::string(kOthers), {}});
};

}  // namespace tally
