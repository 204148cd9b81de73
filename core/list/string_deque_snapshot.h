// The part of a StringDeque's snapshot that is still to be saved, while the deque goes on changing:
// ranges of chunks that have not changed yet, and chunks that had to be put aside. A chunk that is
// dropped is moved here; a chunk that changes is copied first. A change inside a range divides it.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/run_sink.h"
#include "core/list/span_deque.h"
#include "core/list/string_chunk.h"

namespace tally {

class StringDequeSnapshot {
 public:
  using Chunks = SpanDeque<StringChunk>;

  // The sink gets runs that are `kind` and then length-prefixed texts.
  StringDequeSnapshot(const Chunks& chunks, char kind, const RunSink& sink);

  // Must be called before chunk k changes in any way. O(log ranges), but O(ranges) if chunk k lies
  // inside a range.
  void BeforeChange(const Chunks& chunks, size_t k);
  // Must be called instead before the whole first or last chunk is dropped. If the chunk is still
  // to be saved, it is moved here instead of copied, and the chunk in the deque is empty
  // afterwards.
  void BeforeDropFront(Chunks& chunks);
  void BeforeDropBack(Chunks& chunks);
  // Must be called after a chunk was inserted at index k, or removed from it. Index k is never
  // inside a range. O(ranges).
  void ChunkAdded(size_t k);
  void ChunkGone(size_t k);

  // Passes one run to the sink; returns false when nothing is left.
  bool SaveSome(const Chunks& chunks);

 private:
  // Chunks [begin, end) of the deque, which may be none, and then these chunks.
  struct Part {
    size_t begin = 0;
    size_t end = 0;
    std::list<StringChunk> after{};
  };

  // The number of the part that has chunk k in its range; kNoPart if the chunk need not be saved.
  size_t PartOf(size_t k) const;
  static constexpr size_t kNoPart = SIZE_MAX;
  // Takes chunk k out of the range of that part, and puts `aside` in its place.
  void Replace(size_t part, size_t k, StringChunk aside);
  // Returns the next chunk to save, valid until the following call; null at the end.
  const StringChunk* Next(const Chunks& chunks);

  // In the order of the deque. The parts before first_ are saved. Part 0 has no range.
  std::vector<Part> parts_;
  size_t first_ = 1;
  StringChunk given_;
  char kind_;
  RunSink sink_;
  std::string run_;
};

}  // namespace tally
