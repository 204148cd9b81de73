// The list value: a double-ended queue of byte strings, held as integers while all of them are the
// canonical texts of integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/bytes/number.h"
#include "core/bytes/run_sink.h"
#include "core/list/int_ring.h"
#include "core/list/string_deque.h"

namespace tally {

// A text such as "007" does not count as an integer, because it would be read back as "7". The
// first element that is not an integer turns the list into a StringDeque, which takes over the
// blocks of integers as they are. Only an emptied list turns back into integers.
//
// A list is one word large. Costs are those of IntRing and StringDeque: push and pop are O(1), the
// others are given below. Indexes count from 0 at the front and must be below size(); ranges
// [from, to) must lie inside the list. Views that are passed in must not lie inside the list.
class List {
 public:
  List() { new (word_) IntRing(); }
  List(List&& other) noexcept : List() { Swap(other); }
  List& operator=(List&& other) noexcept {
    List taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~List();
  // O(n).
  List Clone() const;

  size_t size() const { return holds_strings() ? strings()->size() : ints().size(); }
  bool empty() const { return size() == 0; }

  void PushFront(std::string_view text);
  void PushBack(std::string_view text);
  // The same for the decimal text of each number.
  void PushBack(std::span<const int64_t> numbers);
  // The list must not be empty.
  std::string PopFront();
  std::string PopBack();

  std::string At(size_t i) const;
  // Appends the element's text to `out`, without a temporary string.
  void AppendAt(size_t i, std::string& out) const;
  // Calls visit(std::string_view) for elements [from, to) until it returns false. O(1) per element.
  template <typename Visit>
  void ForEach(size_t from, size_t to, Visit&& visit) const;

  // The same in reverse order, from element to - 1 down to element `from`.
  template <typename Visit>
  void ForEachBackwards(size_t from, size_t to, Visit&& visit) const;

  void Set(size_t i, std::string_view text);
  // Inserts `text` before element i, or at the end if i == size().
  void Insert(size_t i, std::string_view text);
  void Erase(size_t i);
  // Keeps elements [from, to) and drops all others. O(chunk + chunks dropped).
  void Trim(size_t from, size_t to);
  // LREM: removes the first `count` elements equal to `text`, the last -count of them if `count` is
  // negative, or all of them if it is 0; returns how many were removed. O(n).
  size_t RemoveMatching(int64_t count, std::string_view text);
  // Return the index of the first and of the last element of [from, to) that equals `text`, or
  // nullopt if there is none. O(to - from).
  std::optional<size_t> Find(std::string_view text, size_t from, size_t to) const;
  std::optional<size_t> FindLast(std::string_view text, size_t from, size_t to) const;

  // For OBJECT ENCODING: "intring" or "quicklist".
  std::string_view encoding() const { return holds_strings() ? "quicklist" : "intring"; }
  // Bytes on the heap, rounded to size classes, without the word of the list itself.
  size_t MemoryBytes() const;
  // Frees about `elements` elements from the back; returns true when none is left. It serves to
  // free millions of elements in slices.
  bool FreeSome(size_t elements);

  // Appends one run to `out`. It begins with element `from` < size() and ends when it has
  // `max_bytes` bytes, but has at least one element. Returns the index after its last element; 0 at
  // the end of the list. A run is one byte for the kind, then up to its end either signed varints
  // (the first integer, then differences modulo 2^64) or length-prefixed texts.
  uint64_t Save(uint64_t from, size_t max_bytes, std::string& out) const;
  // Appends the elements of one run. Returns false if the run is malformed; the list may then hold
  // a part of it and must be discarded.
  [[nodiscard]] bool Load(std::string_view run);

  // See ValueOperations. BeginSnapshot returns false for a list of integers: they take so few bytes
  // that millions of them can be copied in milliseconds.
  bool BeginSnapshot(const RunSink& sink);
  bool SaveSnapshot();
  void EndSnapshot();

 private:
  // The tag distinguishes a StringDeque's address from an IntRing.
  static constexpr uintptr_t kStringsBit = IntRing::kUnusedBit;

  uintptr_t word() const;
  bool holds_strings() const { return (word() & kStringsBit) != 0; }
  IntRing& ints() { return *std::launder(reinterpret_cast<IntRing*>(word_)); }
  const IntRing& ints() const { return *std::launder(reinterpret_cast<const IntRing*>(word_)); }
  StringDeque* strings() const { return reinterpret_cast<StringDeque*>(word() & ~kStringsBit); }
  void Hold(std::unique_ptr<StringDeque> strings);
  void BecomeStrings();
  void BecomeIntsIfEmpty();
  // If the list holds integers and `text` is one, sets `number` and returns true. Otherwise returns
  // false, and the list holds strings from now on.
  bool TakesAsNumber(std::string_view text, int64_t& number);
  void Swap(List& other) noexcept { std::swap(word_, other.word_); }

  // An IntRing, or a StringDeque's address with kStringsBit set.
  alignas(IntRing) unsigned char word_[sizeof(IntRing)];
};

template <typename Visit>
void List::ForEach(size_t from, size_t to, Visit&& visit) const {
  if (holds_strings()) {
    strings()->ForEach(from, to, visit);
  } else {
    ints().ForEach(from, to, [&](int64_t value) { return visit(Int64Text(value).view()); });
  }
}

template <typename Visit>
void List::ForEachBackwards(size_t from, size_t to, Visit&& visit) const {
  if (holds_strings()) {
    strings()->ForEachBackwards(from, to, visit);
  } else {
    ints().ForEachBackwards(from, to,
                            [&](int64_t value) { return visit(Int64Text(value).view()); });
  }
}

}  // namespace tally
