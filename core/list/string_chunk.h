// Consecutive byte strings of a StringDeque in one allocation, or as the block of integers that
// they were before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/bytes/number.h"
#include "core/list/int_block.h"
#include "core/list/wanted.h"

namespace tally {

// Each entry lies between two copies of its length (varints, the second one's bytes reversed), so
// that entries can be walked both ways, as in Redis's listpack. Entries are found by walking from
// the nearer end: O(entries of a chunk).
//
// A list of millions of integers becomes one of texts without a pause: its blocks are taken over as
// they are, and one is written out only when an entry inside it changes. They count as full.
class StringChunk {
 public:
  // Entries share a chunk up to this size; a larger one has a chunk of its own.
  static constexpr size_t kBytes = 4096;
  // Longest entry.
  static constexpr size_t kMaxEntryBytes = size_t{1} << 31;

  // The sequence number of the first entry: SpanDeque's.
  uint64_t start = 0;

  StringChunk() = default;
  // The texts of the entries of `numbers`.
  explicit StringChunk(IntBlock numbers);

  size_t size() const { return count_; }
  // Bytes of all entries with their lengths.
  size_t used() const { return numbers_ == nullptr ? end_ - begin_ : kBytes; }
  // Whether another entry of `length` bytes belongs into this chunk.
  bool HasRoomFor(size_t length) const;

  // Appends entry i < size() to `out`.
  void AppendAt(size_t i, std::string& out) const;
  // Puts `text` before entry i <= size(); it does not lie in this chunk. O(1) at the ends while
  // the allocation lasts, else O(bytes).
  void Insert(size_t i, std::string_view text);
  // count <= size().
  void DropFront(size_t count);
  void DropBack(size_t count);
  // i < size(). O(bytes).
  void Erase(size_t i);
  // Splits the entries from i on off; 0 < i < size().
  StringChunk SplitFrom(size_t i);
  // Appends copies of all entries of `next`.
  void Append(const StringChunk& next);

  size_t CountMatching(const Wanted& wanted) const;
  // Removes those that are number `first` to first + count - 1 among the entries that are wanted.
  void RemoveMatching(const Wanted& wanted, size_t first, size_t count);

  // Calls visit(std::string_view) for `count` entries from `from` on until it returns false; false
  // if it did. A visit that takes int64_t as well gets integers as they are held. O(1) an entry
  // after finding the first.
  template <typename Visit>
  bool ForEach(size_t from, size_t count, Visit&& visit) const {
    if (numbers_ != nullptr) {
      for (size_t i = from; i < from + count; ++i) {
        if (!VisitNumber(numbers_->At(i), visit)) return false;
      }
      return true;
    }
    for (size_t offset = OffsetOf(from); count > 0; --count) {
      const std::string_view text = EntryAt(offset);
      if (!visit(text)) return false;
      offset += EntryBytes(text.size());
    }
    return true;
  }
  // The same backwards: entries before `to`.
  template <typename Visit>
  bool ForEachBackwards(size_t to, size_t count, Visit&& visit) const {
    if (numbers_ != nullptr) {
      for (size_t i = to; i > to - count; --i) {
        if (!VisitNumber(numbers_->At(i - 1), visit)) return false;
      }
      return true;
    }
    for (size_t offset = OffsetOf(to); count > 0; --count) {
      offset = OffsetBefore(offset);
      if (!visit(EntryAt(offset))) return false;
    }
    return true;
  }

  StringChunk Clone() const;
  size_t HeapUse() const;

 private:
  template <typename Visit>
  static bool VisitNumber(int64_t number, Visit&& visit) {
    if constexpr (std::is_invocable_v<Visit, int64_t>) {
      return visit(number);
    } else {
      return visit(Int64Text(number).view());
    }
  }

  // Writes the integers out as texts: what changes the inside of the chunk needs them so.
  void Spell();
  static size_t EntryBytes(size_t length);
  std::string_view EntryAt(size_t offset) const;
  // Where the entry that ends at `offset` begins.
  size_t OffsetBefore(size_t offset) const;
  // Where entry i begins; end_ for i == size().
  size_t OffsetOf(size_t i) const;
  // Makes a gap of `size` bytes before those at `offset`; returns where it begins.
  size_t OpenGap(size_t offset, size_t size);
  // Moves to an allocation of `capacity` bytes with a hole of `hole` bytes at `offset`.
  size_t Relocate(size_t capacity, size_t offset, size_t hole);
  void ShrinkToUse();

  std::unique_ptr<char[]> bytes_;
  // Instead of bytes_, or null.
  std::unique_ptr<IntBlock> numbers_;
  uint32_t capacity_ = 0;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  uint32_t count_ = 0;
};

}  // namespace tally
