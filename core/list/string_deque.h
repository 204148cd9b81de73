// A double-ended queue of byte strings, packed into chunks: the form of a list that does not hold
// only integers. The idea is Redis's quicklist.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/bytes/run_sink.h"
#include "core/list/span_deque.h"
#include "core/list/string_chunk.h"
#include "core/list/string_deque_snapshot.h"
#include "core/list/wanted.h"

namespace tally {

// An entry of less than 128 bytes has two bytes of overhead. Push and pop at the ends are amortised
// O(1), other operations are O(chunk) unless said otherwise; Insert and Erase also step over the
// chunks between i and the nearer end. Indexes must be below size(). Views that a visitor gets are
// valid until the deque changes; a view that is passed in must not lie inside the deque.
class StringDeque {
 public:
  std::unique_ptr<StringDeque> Clone() const;

  size_t size() const { return chunks_.size(); }
  // Appends entry i to `out`.
  void AppendAt(size_t i, std::string& out) const;

  void PushFront(std::string_view text);
  void PushBack(std::string_view text);
  // Appends the texts of a block of integers. O(1). Must not be called during a snapshot
  // (asserted).
  void PushBack(IntBlock numbers);
  // count <= size().
  void DropFront(size_t count);
  void DropBack(size_t count);
  void Set(size_t i, std::string_view text);
  // Inserts `text` before entry i, or at the end if i == size().
  void Insert(size_t i, std::string_view text);
  void Erase(size_t i);
  // Removes the first `most` entries that `wanted` matches, or the last `most` if `from_back`;
  // returns how many were removed. O(n).
  size_t RemoveMatching(const Wanted& wanted, size_t most, bool from_back);

  // Calls visit(std::string_view) for entries [from, to) until it returns false. If `visit` also
  // takes int64_t, calls visit(int64_t) for entries that are held as integers. O(1) per entry.
  template <typename Visit>
  void ForEach(size_t from, size_t to, Visit&& visit) const {
    if (from >= to) return;
    auto [k, offset] = chunks_.Locate(from);
    for (size_t left = to - from; left > 0; ++k, offset = 0) {
      const size_t count = std::min(left, chunks_[k].size() - offset);
      if (!chunks_[k].ForEach(offset, count, visit)) return;
      left -= count;
    }
  }
  // The same in reverse order, from entry to - 1 down to entry `from`.
  template <typename Visit>
  void ForEachBackwards(size_t from, size_t to, Visit&& visit) const {
    if (from >= to) return;
    auto [k, last] = chunks_.Locate(to - 1);
    size_t end = last + 1;
    for (size_t left = to - from;;) {
      const size_t count = std::min(left, end);
      if (!chunks_[k].ForEachBackwards(end, count, visit)) return;
      left -= count;
      if (left == 0) return;
      end = chunks_[--k].size();
    }
  }

  size_t HeapUse() const { return chunks_.HeapUse(); }
  // Frees about `entries` entries (whole chunks) from the back; returns true when none is left.
  bool FreeSome(size_t entries);

  // Takes a snapshot of the entries as they are now, while the deque goes on changing: see
  // ValueOperations. Each run is `kind` and then length-prefixed texts.
  void BeginSnapshot(char kind, const RunSink& sink);
  bool SaveSnapshot();
  bool in_snapshot() const { return snapshot_ != nullptr; }
  void EndSnapshot() { snapshot_ = nullptr; }

 private:
  void BeforeChange(size_t k) {
    if (snapshot_ != nullptr) [[unlikely]]
      snapshot_->BeforeChange(chunks_, k);
  }

  // Merges chunk k with a neighbour if both together fill at most half a chunk.
  void MergeAround(size_t k);
  // Appends chunk `next` to chunk k if both together fill at most half a chunk; otherwise returns
  // false. Does not remove or change chunk `next`.
  bool Join(size_t k, size_t next);

  SpanDeque<StringChunk> chunks_;
  std::unique_ptr<StringDequeSnapshot> snapshot_;
};

}  // namespace tally
