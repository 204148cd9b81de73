// The rules with a name, and what they have decided. They are kept as the words they were given in:
// what a word means is the command layer's, which has found them right before they come here.
#pragma once

#include <absl/container/btree_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

struct DecisionCount {
  uint64_t allowed = 0;
  uint64_t denied = 0;
};

// What the rules of a policy have decided since it was first set, or since the start. Several
// policies may share one.
struct PolicyTally {
  std::string name;
  DecisionCount count;
};

class PolicyTable {
 public:
  using Words = std::vector<std::string>;

  // This many policies have a tally of their own, if their names have at most kMaxTallyName bytes;
  // those beyond share the tally that is called kOthers, and so does a policy of that name.
  static constexpr size_t kMaxTallies = 1000;
  static constexpr size_t kMaxTallyName = 128;
  static constexpr std::string_view kOthers = "other";

  // Replaces what is there. O(log policies).
  void Set(std::string_view name, Words words);
  // Null if there is none; valid until the table changes.
  const Words* Find(std::string_view name) const;
  // The same, and its tally, which is there until the policy is erased; a shared one stays.
  const Words* Find(std::string_view name, PolicyTally*& tally) const;
  // False if there is none.
  bool Erase(std::string_view name);
  void Clear();
  size_t size() const { return policies_.size(); }

  // Calls visit(name, words) for each, in the order of their names.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [name, policy] : policies_) visit(std::string_view(name), policy.words);
  }
  // Calls visit(tally) for each that is in use, at most kMaxTallies and one, the shared one last.
  template <typename Visit>
  void ForEachTally(Visit&& visit) const {
    for (const auto& [name, policy] : policies_) {
      if (policy.tally != nullptr) visit(*policy.tally);
    }
    if (tallies_ < policies_.size()) visit(*others_);
  }

  // Appends a policy's saved form.
  static void Save(std::string_view name, const Words& words, std::string& out);
  // Sets the policy that Save wrote; false if the bytes are malformed.
  [[nodiscard]] bool Load(std::string_view bytes);

 private:
  struct Policy {
    Words words;
    std::unique_ptr<PolicyTally> tally;  // null for those that share one
  };

  absl::btree_map<std::string, Policy, std::less<>> policies_;
  size_t tallies_ = 0;
  std::unique_ptr<PolicyTally> others_ =
      std::make_unique<PolicyTally>(PolicyTally{std::string(kOthers), {}});
};

}  // namespace tally
