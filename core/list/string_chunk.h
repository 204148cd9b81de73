// Consecutive byte strings of a StringDeque in one allocation. If they were integers of an IntRing
// before, the chunk may hold them as their IntBlock instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/bytes/counted_block.h"
#include "core/bytes/number.h"
#include "core/list/int_block.h"
#include "core/list/wanted.h"

namespace tally {

// Each entry lies between two copies of its length (varints, the second one's bytes reversed), so
// that entries can be walked both ways, as in Redis's listpack. Entries are found by walking from
// the nearer end: O(entries of a chunk).
//
// A list of millions of integers becomes a list of texts without a pause: each chunk takes over a
// block of integers as it is, and writes it out as texts only when an entry inside it changes.
// Until then such a chunk counts as full.
class StringChunk {
 public:
  // Entries share a chunk up to this size; a larger one has a chunk of its own.
  static constexpr size_t kBytes = 4096;
  // Longest entry.
  static constexpr size_t kMaxEntryBytes = size_t{1} << 31;

  // The sequence number of the first entry; SpanDeque sets it.
  uint64_t start = 0;

  StringChunk() = default;
  // The entries are the texts of `numbers`, still held as integers.
  explicit StringChunk(IntBlock numbers);

  size_t size() const { return count_; }
  // Bytes of all entries with their lengths; kBytes while they are held as integers.
  size_t used() const { return numbers_ == nullptr ? end_ - begin_ : kBytes; }
  // Whether an entry of `length` bytes may be added to this chunk.
  bool HasRoomFor(size_t length) const;

  // Appends entry i < size() to `out`.
  void AppendAt(size_t i, std::string& out) const;
  // Inserts `text` before entry i <= size(). `text` must not lie in this chunk, and must have at
  // most kMaxEntryBytes (asserted). O(1) at the ends while the allocation has room, else O(bytes).
  void Insert(size_t i, std::string_view text);
  // count <= size().
  void DropFront(size_t count);
  void DropBack(size_t count);
  // i < size(). O(bytes).
  void Erase(size_t i);
  // Moves the entries from i on to a new chunk and returns it; 0 < i < size().
  StringChunk SplitFrom(size_t i);
  // Appends copies of all entries of `next`. Neither chunk may hold integers.
  void Append(const StringChunk& next);

  size_t CountMatching(const Wanted& wanted) const;
  // Removes number `first` to first + count - 1 of the entries that `wanted` matches, counted from
  // 0.
  void RemoveMatching(const Wanted& wanted, size_t first, size_t count);

  // Calls visit(std::string_view) for `count` entries from `from` on until it returns false;
  // returns false in that case. If `visit` also takes int64_t, it gets entries that are held as
  // integers as int64_t. O(1) per entry after finding the first.
  template <typename Visit>
  bool ForEach(size_t from, size_t count, Visit&& visit) const {
    if (numbers_ != nullptr) {
      for (size_t i = from; i < from + count; ++i) {
        if (!VisitNumber(numbers_->At(i), visit)) return false;
      }
      return true;
    }
    for (size_t offset = OffsetOf(from); count > 0; --count) {
      const ElementView text = EntryAt(offset);
      if (!visit(text)) return false;
      offset += EntryBytes(text.size());
    }
    return true;
  }
  // The same in reverse order for the `count` entries before `to`.
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

  // Writes integers out as texts. A change inside the chunk needs all entries as texts.
  void Spell();
  static size_t EntryBytes(size_t length);
  ElementView EntryAt(size_t offset) const;
  // Returns the offset at which the entry that ends at `offset` begins.
  size_t OffsetBefore(size_t offset) const;
  // Returns the offset at which entry i begins; end_ if i == size().
  size_t OffsetOf(size_t i) const;
  // Makes a gap of `size` bytes before the entry at `offset`; returns the offset of the gap.
  size_t OpenGap(size_t offset, size_t size);
  // Moves the entries to a new allocation of `capacity` bytes and leaves a gap of `hole` bytes
  // before the entry at `offset`; returns the new offset of the gap.
  size_t Relocate(size_t capacity, size_t offset, size_t hole);
  void ShrinkToUse();

  ElementBlock bytes_;
  // The entries while they are held as integers (bytes_ is then unused); otherwise null.
  std::unique_ptr<IntBlock> numbers_;
  uint32_t capacity_ = 0;
  uint32_t begin_ = 0;
  uint32_t end_ = 0;
  uint32_t count_ = 0;
};

}  // namespace tally
