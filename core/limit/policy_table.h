// The rules with a name. They are kept as the words they were given in: what a word
// means is the command layer's, which has found them right before they come here.
#pragma once

#include <absl/container/btree_map.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

class PolicyTable {
 public:
  using Words = std::vector<std::string>;

  // Replaces what is there. O(log policies).
  void Set(std::string_view name, Words words);
  // Null if there is none; valid until the table changes.
  const Words* Find(std::string_view name) const;
  // False if there is none.
  bool Erase(std::string_view name) { return policies_.erase(name) > 0; }
  void Clear() { policies_.clear(); }
  size_t size() const { return policies_.size(); }

  // Calls visit(name, words) for each, in the order of their names.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& [name, words] : policies_) visit(std::string_view(name), words);
  }

  // Appends a policy's saved form.
  static void Save(std::string_view name, const Words& words, std::string& out);
  // Sets the policy that Save wrote; false if the bytes are malformed.
  [[nodiscard]] bool Load(std::string_view bytes);

 private:
  absl::btree_map<std::string, Words, std::less<>> policies_;
};

}  // namespace tally
