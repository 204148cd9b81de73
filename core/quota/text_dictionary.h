// The texts among a book's SKUs and actions, each held once, and the numbers that stand for them in
// the book's blocks.
//
// A number is never given to another text again, so that blocks which a snapshot has already saved
// stay right. A text is kept as long as something in the book uses it. A text takes about 40 bytes
// besides its own.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/table/record_table.h"

namespace tally {

class TextDictionary {
 public:
  // The highest number that may be in a snapshot. A book that gives out a number each microsecond
  // reaches it in nine years.
  static constexpr int64_t kMaxNumber = (int64_t{1} << 48) - 1;

  explicit TextDictionary(uint64_t seed) : texts_(seed), numbers_(seed) {}

  // Returns the number of the text, or 0 if it has none. O(1).
  int64_t Find(std::string_view text) const;
  // Returns the text of the number, valid until the dictionary next changes; empty if there is no
  // such number.
  std::string_view TextOf(int64_t number) const;

  int64_t next_number() const { return last_number_ + 1; }
  // Gives the next number to a text that has none, and returns it. The text has no uses yet.
  int64_t Add(std::string_view text);
  // Adds `by` to the uses of the number, which must not become negative (asserted); at 0 uses the
  // text is forgotten. The number need not have a text yet, because the runs of a snapshot are read
  // in any order.
  void ChangeUses(int64_t number, int64_t by);
  // Gives the number the text that a snapshot has for it. Returns false if the number has a text.
  [[nodiscard]] bool Restore(int64_t number, std::string_view text);

  bool empty() const { return texts_.empty(); }
  TextDictionary Clone(uint64_t seed) const;
  size_t MemoryBytes() const {
    return sizeof(*this) + texts_.MemoryBytes() + numbers_.MemoryBytes();
  }
  bool FreeSome(size_t segments) {
    return texts_.FreeSome(segments) && numbers_.FreeSome(segments);
  }

  // For snapshots. The table has one record for each number; its key is the number's EntityKey.
  const RecordTable& table() const { return texts_; }
  static std::string_view TextOf(const RecordTable::Record& record) {
    return record.payload().substr(kUsesBytes);
  }

 private:
  // The number of uses, before the text in a record. A count that has reached the highest value no
  // longer changes, and the text is then kept for ever.
  using Uses = uint32_t;
  static constexpr size_t kUsesBytes = sizeof(Uses);

  RecordTable::Record FindNumber(int64_t number) const;
  void Index(std::string_view text, int64_t number);
  void Unindex(std::string_view text, int64_t number);

  RecordTable texts_;    // number -> uses, text
  RecordTable numbers_;  // some bits of a text's hash -> numbers of the texts with it, as varints
  // The numbers that are used and have no text yet. Only while a snapshot is loaded there are any,
  // and few, because its texts are saved first.
  absl::flat_hash_set<int64_t> awaited_;
  int64_t last_number_ = 0;
};

}  // namespace tally
