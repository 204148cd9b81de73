// The texts among a book's SKUs and actions, each once, and the numbers that stand for them in the
// book's blocks.
//
// A number is given once and never to another text, so that what a snapshot has saved of a block
// stays right. A text is kept as long as something in the book uses it. About 40 bytes a text
// besides its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/table/record_table.h"

namespace tally {

class TextDictionary {
 public:
  // The highest number that a snapshot may say; a book that gives one each microsecond gets there
  // in nine years.
  static constexpr int64_t kMaxNumber = (int64_t{1} << 48) - 1;

  explicit TextDictionary(uint64_t seed) : texts_(seed), numbers_(seed) {}

  // O(1). 0 if the text has no number.
  int64_t Find(std::string_view text) const;
  // Valid until the dictionary next changes. Empty if there is no such number.
  std::string_view TextOf(int64_t number) const;

  int64_t next_number() const { return last_number_ + 1; }
  // Gives the next number to a text that has none, without a use so far.
  int64_t Add(std::string_view text);
  // So many uses more of the number, or less: without any the text is forgotten. A number need not
  // have a text yet: a snapshot is read in any order.
  void ChangeUses(int64_t number, int64_t by);
  // Gives the number that text, as a snapshot says. False if it has one.
  [[nodiscard]] bool Restore(int64_t number, std::string_view text);

  bool empty() const { return texts_.empty(); }
  TextDictionary Clone(uint64_t seed) const;
  size_t MemoryBytes() const {
    return sizeof(*this) + texts_.MemoryBytes() + numbers_.MemoryBytes();
  }
  bool FreeSome(size_t segments) {
    return texts_.FreeSome(segments) && numbers_.FreeSome(segments);
  }

  // For snapshots: a record for each number, its key the number's EntityKey.
  const RecordTable& table() const { return texts_; }
  static std::string_view TextOf(const RecordTable::Record& record) {
    return record.payload().substr(kUsesBytes);
  }

 private:
  // Of a record before its text. At the highest count it stays, and the text with it.
  using Uses = uint32_t;
  static constexpr size_t kUsesBytes = sizeof(Uses);

  RecordTable::Record FindNumber(int64_t number) const;
  void Index(std::string_view text, int64_t number);
  void Unindex(std::string_view text, int64_t number);

  RecordTable texts_;    // number -> uses, text
  RecordTable numbers_;  // some bits of a text's hash -> the numbers of such texts, as varints
  int64_t last_number_ = 0;
};

}  // namespace tally
