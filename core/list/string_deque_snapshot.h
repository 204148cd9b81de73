// The part of a StringDeque's snapshot that is still to be saved, while the deque goes on changing:
// a range of chunks that have not changed yet, and the chunks before and after this range that had
// to be put aside. A chunk that is dropped is moved here; a chunk that changes is copied first. A
// change far inside the range makes it shorter: the chunks on the shorter side of the change are
// copied. In a list of millions this takes milliseconds, as long as it takes to search the list for
// such a place.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "core/list/span_deque.h"
#include "core/list/string_chunk.h"

namespace tally {

class StringDequeSnapshot {
 public:
  using Chunks = SpanDeque<StringChunk>;

  using RunSink = std::function<void(std::string_view run)>;

  // The sink gets runs that are `kind` and then length-prefixed texts.
  StringDequeSnapshot(const Chunks& chunks, char kind, const RunSink& sink)
      : end_(chunks.span_count()), kind_(kind), sink_(sink) {}

  // Must be called before chunk k changes in any way.
  void BeforeChange(const Chunks& chunks, size_t k);
  // Must be called instead before the whole first or last chunk is dropped. If the chunk is still
  // to be saved, it is moved here instead of copied, and the chunk in the deque is empty
  // afterwards.
  void BeforeDropFront(Chunks& chunks);
  void BeforeDropBack(Chunks& chunks);
  // Must be called after a chunk was inserted at index k, or removed from it. Index k is never
  // inside the range.
  void ChunkAdded(size_t k);
  void ChunkGone(size_t k);

  // Passes one run to the sink; returns false when nothing is left.
  bool SaveSome(const Chunks& chunks);

 private:
  // Returns the next chunk to save, valid until the following call; null at the end.
  const StringChunk* Next(const Chunks& chunks);

  std::deque<StringChunk> before_;
  // Chunks [begin_, end_) of the deque are the range. They are saved after before_.
  size_t begin_ = 0;
  size_t end_;
  std::deque<StringChunk> after_;
  StringChunk given_;
  char kind_;
  RunSink sink_;
  std::string run_;
};

}  // namespace tally
