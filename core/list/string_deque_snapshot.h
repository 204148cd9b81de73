// What is left to be saved of a StringDeque as it was when a snapshot of it began, while it
// changes: a run of its chunks that has not changed yet, with those on either side of it that had
// to be put aside. A chunk that is dropped is put aside as it is, one that changes is copied
// before. A change far inside the run parts it: the shorter side is copied, which in a list of
// millions takes milliseconds; searching a list for such a place takes as long.
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

  // To be called before anything happens to chunk k.
  void BeforeChange(const Chunks& chunks, size_t k);
  // The same for an end whose whole chunk is to go: it is taken instead of copied. The chunk is
  // empty afterwards if it was taken.
  void BeforeDropFront(Chunks& chunks);
  void BeforeDropBack(Chunks& chunks);
  // To be called after a chunk has moved to k, or has gone from there. No such k lies inside
  // the run.
  void ChunkAdded(size_t k);
  void ChunkGone(size_t k);

  // Gives the sink a run; false when nothing is left.
  bool SaveSome(const Chunks& chunks);

 private:
  // The next chunk to be saved, which is given up with the following call; null at the end.
  const StringChunk* Next(const Chunks& chunks);

  std::deque<StringChunk> before_;
  // Chunks of the deque from begin_ to end_ are left; they come after before_.
  size_t begin_ = 0;
  size_t end_;
  std::deque<StringChunk> after_;
  StringChunk given_;
  char kind_;
  RunSink sink_;
  std::string run_;
};

}  // namespace tally
