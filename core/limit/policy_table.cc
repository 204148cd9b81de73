#include "core/limit/policy_table.h"

#include <utility>

#include "core/bytes/varint.h"

namespace tally {

void PolicyTable::Set(std::string_view name, Words words) {
  policies_[std::string(name)] = std::move(words);
}

const PolicyTable::Words* PolicyTable::Find(std::string_view name) const {
  const auto found = policies_.find(name);
  return found == policies_.end() ? nullptr : &found->second;
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
