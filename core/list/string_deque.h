// A double-ended queue of byte strings, packed into chunks: what a list is that holds other things
// than integers. The idea is Redis's quicklist.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/list/span_deque.h"
#include "core/list/string_chunk.h"
#include "core/list/string_deque_snapshot.h"
#include "core/list/wanted.h"

namespace tally {

// Two bytes of overhead for an entry of less than 128. Push and pop at the ends are amortised O(1),
// the rest O(chunk), and Insert and Erase also step over the chunks between i and the nearer end.
// Indexes are below size(); views live until the deque changes, and none that is passed in may lie
// inside it.
class StringDeque {
 public:
  std::unique_ptr<StringDeque> Clone() const;

  size_t size() const { return chunks_.size(); }
  // Appends entry i to `out`.
  void AppendAt(size_t i, std::string& out) const;

  void PushFront(std::string_view text);
  void PushBack(std::string_view text);
  // The texts of a block of integers. O(1). Not in a snapshot.
  void PushBack(IntBlock numbers);
  // count <= size().
  void DropFront(size_t count);
  void DropBack(size_t count);
  void Set(size_t i, std::string_view text);
  // Before entry i, or at the end for i == size().
  void Insert(size_t i, std::string_view text);
  void Erase(size_t i);
  // Removes the first `most` entries that are wanted, or the last ones; returns how many there
  // were. O(n).
  size_t RemoveMatching(const Wanted& wanted, size_t most, bool from_back);

  // Calls visit(std::string_view) for entries [from, to) until it returns false, or visit(int64_t)
  // where it takes that and an entry is held so. O(1) an entry.
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
  // The same from to - 1 down to from.
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
  // Frees about `entries` entries (whole chunks) from the back; true if none is left.
  bool FreeSome(size_t entries);

  // A snapshot of the entries as they are now, taken while they change: see ValueOperations. Each
  // run is `kind` and then length-prefixed texts.
  void BeginSnapshot(char kind, const StringDequeSnapshot::RunSink& sink);
  bool SaveSnapshot();
  bool in_snapshot() const { return snapshot_ != nullptr; }
  void EndSnapshot() { snapshot_ = nullptr; }

 private:
  void BeforeChange(size_t k) {
    if (snapshot_ != nullptr) [[unlikely]]
      snapshot_->BeforeChange(chunks_, k);
  }

  // Two neighbours that fill half a chunk together become one.
  void MergeAround(size_t k);
  // Appends chunk `next` to chunk k if they are such; it stays as it is.
  bool Join(size_t k, size_t next);

  SpanDeque<StringChunk> chunks_;
  std::unique_ptr<StringDequeSnapshot> snapshot_;
};

}  // namespace tally
