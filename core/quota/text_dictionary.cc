#include "core/quota/text_dictionary.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/check.h"
#include "core/quota/entity_key.h"

namespace tally {
namespace {

// Enough bits of a text's hash that few texts share them.
using HashBits = uint32_t;

class HashKey {
 public:
  HashKey(const RecordTable& table, std::string_view text)
      : bits_(static_cast<HashBits>(table.Hash(text))) {}
  std::string_view view() const { return {reinterpret_cast<const char*>(&bits_), sizeof bits_}; }

 private:
  HashBits bits_;
};

std::vector<int64_t> NumbersIn(std::string_view varints) {
  std::vector<int64_t> numbers;
  for (PackedInput in(varints); !in.empty();) {
    numbers.push_back(static_cast<int64_t>(in.Varint()));
  }
  return numbers;
}

}  // namespace

RecordTable::Record TextDictionary::FindNumber(int64_t number) const {
  return texts_.Find(EntityKey(number).view());
}

int64_t TextDictionary::Find(std::string_view text) const {
  const RecordTable::Record record = numbers_.Find(HashKey(numbers_, text).view());
  if (!record) return 0;
  for (PackedInput in(record.payload()); !in.empty();) {
    const auto number = static_cast<int64_t>(in.Varint());
    if (TextOf(number) == text) return number;
  }
  return 0;
}

std::string_view TextDictionary::TextOf(int64_t number) const {
  const RecordTable::Record record = FindNumber(number);
  return record ? TextOf(record) : std::string_view();
}

int64_t TextDictionary::Add(std::string_view text) {
  const int64_t number = next_number();
  Check(Restore(number, text), "a new number has no text");
  return number;
}

bool TextDictionary::Restore(int64_t number, std::string_view text) {
  const EntityKey key(number);
  RecordTable::Record record = FindNumber(number);
  if (record) {
    if (awaited_.erase(number) == 0) return false;
    record = texts_.Resize(record, kUsesBytes + text.size());
  } else {
    record = texts_.Insert(key.view(), kUsesBytes + text.size());
    std::memset(record.data(), 0, kUsesBytes);
  }
  std::memcpy(record.data() + kUsesBytes, text.data(), text.size());
  last_number_ = std::max(last_number_, number);
  Index(text, number);
  return true;
}

void TextDictionary::ChangeUses(int64_t number, int64_t by) {
  constexpr Uses kMany = std::numeric_limits<Uses>::max();
  RecordTable::Record record = FindNumber(number);
  if (!record) {
    record = texts_.Insert(EntityKey(number).view(), kUsesBytes);
    std::memset(record.data(), 0, kUsesBytes);
    last_number_ = std::max(last_number_, number);
    awaited_.insert(number);
  }
  Uses uses = 0;
  std::memcpy(&uses, record.data(), sizeof uses);
  if (uses == kMany) return;
  const int64_t changed = uses + by;
  Check(changed >= 0, "nothing gives up a text that it does not use");
  uses = static_cast<Uses>(std::min<int64_t>(changed, kMany));
  std::memcpy(record.data(), &uses, sizeof uses);
  if (uses > 0) return;
  awaited_.erase(number);
  Unindex(TextOf(record), number);
  texts_.Erase(record);
}

void TextDictionary::Index(std::string_view text, int64_t number) {
  const HashKey key(numbers_, text);
  std::string varint;
  AppendVarint(varint, static_cast<uint64_t>(number));
  RecordTable::Record record = numbers_.Find(key.view());
  const size_t size = record ? record.size() : 0;
  record = record ? numbers_.Resize(record, size + varint.size())
                  : numbers_.Insert(key.view(), varint.size());
  std::memcpy(record.data() + size, varint.data(), varint.size());
}

void TextDictionary::Unindex(std::string_view text, int64_t number) {
  RecordTable::Record record = numbers_.Find(HashKey(numbers_, text).view());
  if (!record) return;
  std::string others;
  for (const int64_t other : NumbersIn(record.payload())) {
    if (other != number) AppendVarint(others, static_cast<uint64_t>(other));
  }
  if (others.empty()) return numbers_.Erase(record);
  record = numbers_.Resize(record, others.size());
  std::memcpy(record.data(), others.data(), others.size());
}

TextDictionary TextDictionary::Clone(uint64_t seed) const {
  TextDictionary copy(seed);
  texts_.ForEach([&](const RecordTable::Record& record) {
    const int64_t number = EntityKey::NumberOf(record.key());
    Check(copy.Restore(number, TextOf(record)), "each number is there once");
    std::memcpy(copy.FindNumber(number).data(), record.data(), kUsesBytes);
  });
  copy.awaited_ = awaited_;
  copy.last_number_ = last_number_;
  return copy;
}

}  // namespace tally
