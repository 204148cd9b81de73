#include "core/limit/policy_table.h"

#define XXH_INLINE_ALL
#include <absl/strings/str_cat.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "core/bytes/varint.h"

namespace tally {
namespace {

uint64_t HashOf(std::string_view name, const StoredWords& words) {
  std::string saved;
  PolicyTable::Save(name, words, saved);
  return XXH3_64bits(saved.data(), saved.size());
}

}  // namespace

void Policy::SetRules(std::span<const LimitRule> rules) {
  const bool lacks_zone = std::ranges::any_of(
      rules, [](const LimitRule& rule) { return rule.zone != nullptr && rule.zone->is_missing(); });
  if (lacks_zone) return;
  rules_.assign(rules.begin(), rules.end());
  for (LimitRule& rule : rules_) rule.policy = tally_;
}

Policy& PolicyTable::Set(std::string_view name, StoredWords words) {
  const auto place = policies_.try_emplace(std::string(name)).first;
  Policy& policy = place->second;
  by_name_[place->first] = &policy;
  if (!policy.words_.empty()) digest_ ^= HashOf(name, policy.words_);
  policy.words_ = std::move(words);
  policy.rules_.clear();
  digest_ ^= HashOf(name, policy.words_);
  const bool may_have_own = name.size() <= kMaxTallyName && name != kOthers;
  if (policy.own_tally_ == nullptr && may_have_own && tallies_ < kMaxTallies) {
    policy.own_tally_ = std::make_unique<PolicyTally>(PolicyTally{std::string(name), {}});
    ++tallies_;
  }
  policy.tally_ = policy.own_tally_ != nullptr ? policy.own_tally_.get() : others_.get();
  return policy;
}

Policy* PolicyTable::Find(std::string_view name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

bool PolicyTable::Erase(std::string_view name) {
  const auto found = policies_.find(name);
  if (found == policies_.end()) return false;
  if (found->second.own_tally_ != nullptr) --tallies_;
  digest_ ^= HashOf(name, found->second.words_);
  by_name_.erase(name);
  policies_.erase(found);
  return true;
}

void PolicyTable::Clear() {
  by_name_.clear();
  policies_.clear();
  tallies_ = 0;
  digest_ = 0;
}

std::string PolicyTable::DigestText() const {
  return absl::StrCat(absl::Hex(digest_, absl::kZeroPad16));
}

void PolicyTable::Save(std::string_view name, const StoredWords& words, std::string& out) {
  AppendLengthPrefixed(out, name);
  for (const std::string& word : words) AppendLengthPrefixed(out, word);
}

bool PolicyTable::Load(std::string_view bytes) {
  std::string_view name;
  if (!ReadLengthPrefixed(bytes, name)) return false;
  StoredWords words;
  while (!bytes.empty()) {
    std::string_view word;
    if (!ReadLengthPrefixed(bytes, word)) return false;
    words.emplace_back(word);
  }
  if (words.empty()) return false;
  Set(name, std::move(words));
  return true;
}

}  // namespace tally
