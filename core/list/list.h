// The list value: a double-ended queue of byte strings, held as integers while all of them are the
// canonical texts of integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/bytes/number.h"
#include "core/list/int_ring.h"
#include "core/list/string_deque.h"

namespace tally {

// A text such as "007" would not come back as it went in, so it counts as no integer. The first
// element that is none turns the list into a StringDeque, which takes the blocks of integers over
// as they are; only an emptied list turns back.
//
// One word large. Costs are those of IntRing and StringDeque: push and pop O(1), the rest as said.
// Indexes count from 0 at the front and are below size(); ranges [from, to) lie inside the list.
// Views that are passed in must not lie inside the list.
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
  // Not empty.
  std::string PopFront();
  std::string PopBack();

  std::string At(size_t i) const;
  // Appends the element's text to `out`: needs no allocation of its own.
  void AppendAt(size_t i, std::string& out) const;
  // Calls visit(std::string_view) for elements [from, to) until it returns false. O(1) an element.
  template <typename Visit>
  void ForEach(size_t from, size_t to, Visit&& visit) const;

  // The same from to - 1 down to from.
  template <typename Visit>
  void ForEachBackwards(size_t from, size_t to, Visit&& visit) const;

  void Set(size_t i, std::string_view text);
  // Before element i, or at the end for i == size().
  void Insert(size_t i, std::string_view text);
  void Erase(size_t i);
  // Keeps [from, to). O(what goes, in chunks).
  void Trim(size_t from, size_t to);
  // LREM: removes the first `count` elements equal to `text`, or the last -count, or all for 0;
  // returns how many there were. O(n).
  size_t RemoveMatching(int64_t count, std::string_view text);
  // The first and the last element of [from, to) equal to `text`. O(to - from).
  std::optional<size_t> Find(std::string_view text, size_t from, size_t to) const;
  std::optional<size_t> FindLast(std::string_view text, size_t from, size_t to) const;

  // For OBJECT ENCODING: "intring" or "quicklist".
  std::string_view encoding() const { return holds_strings() ? "quicklist" : "intring"; }
  // Bytes on the heap, rounded to size classes; the word itself is the owner's.
  size_t MemoryBytes() const;
  // Frees about `elements` elements from the back; true if none is left. For freeing millions in
  // slices.
  bool FreeSome(size_t elements);

  // Appends a run of elements from `from` on to `out`: as many as it takes to reach `max_bytes`, at
  // least one. Returns the index after them. A run is a byte that says the kind, then either
  // signed varints (the first integer, then differences modulo 2^64) or length-prefixed texts, to
  // its end.
  size_t Save(size_t from, size_t max_bytes, std::string& out) const;
  // Appends the elements of one run. False on malformed bytes: elements before them have been
  // appended, and the list is to be thrown away.
  [[nodiscard]] bool Load(std::string_view run);

  // What ValueOperations asks for. Only of strings can a snapshot be taken: integers take so few
  // bytes that a copy of millions is made in milliseconds.
  using RunSink = std::function<void(std::string_view run)>;
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
  // Whether `text` fits the list as it is: if not, the list holds strings from now on. `number` is
  // set only while it holds integers.
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
