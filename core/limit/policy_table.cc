#include "core/limit/policy_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>

#include "core/bytes/varint.h"

namespace tally {
namespace {

uint64_t HashOf(std::string_view name, const PolicyTable::Words& words) {
  std::string saved;
  PolicyTable::Save(name, words, saved);
  return XXH3_64bits(saved.data(), saved.size());
}

}  // namespace

void PolicyTable::Set(std::string_view name, Words words) {
  Policy& policy = policies_[std::string(name)];
  if (!policy.words.empty()) digest_ ^= HashOf(name, policy.words);
  policy.words = std::move(words);
  digest_ ^= HashOf(name, policy.words);
  const bool may_have_own = name.size() <= kMaxTallyName && name != kOthers;
  if (policy.tally == nullptr && may_have_own && tallies_ < kMaxTallies) {
    policy.tally = std::make_unique<PolicyTally>(PolicyTally{std::string(name), {}});
    ++tallies_;
  }
}

const PolicyTable::Words* PolicyTable::Find(std::string_view name) const {
  PolicyTally* tally = nullptr;
  return Find(name, tally);
}

const PolicyTable::Words* PolicyTable::Find(std::string_view name, PolicyTally*& tally) const {
  const auto found = policies_.find(name);
  if (found == policies_.end()) return nullptr;
  const Policy& policy = found->second;
  tally = policy.tally != nullptr ? policy.tally.get() : others_.get();
  return &policy.words;
}

bool PolicyTable::Erase(std::string_view name) {
  const auto found = policies_.find(name);
  if (found == policies_.end()) return false;
  if (found->second.tally != nullptr) --tallies_;
  digest_ ^= HashOf(name, found->second.words);
  policies_.erase(found);
  return true;
}

void PolicyTable::Clear() {
  policies_.clear();
  tallies_ = 0;
  digest_ = 0;
}

std::string PolicyTable::DigestText() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text.push_back(kDigits[digest_ >> shift & 0xf]);
  return text;
}

void PolicyTable::Save(std::string_view name, const Words& words, std::string& out) {
  AppendLengthPrefixed(out, name);
  for (const std::string& word : words) AppendLengthPrefixed(out, word);
}

bool PolicyTable::Load(std::string_view bytes) {
  std::string_view name;
  if (!ReadLengthPrefixed(bytes, name)) return false;
  Words words;
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
