// A sorted log of instants, which may repeat, for exact sliding windows.
//
// Equal instants are one (time, count) pair. Pairs are delta-coded in blocks of at most
// kBlockBytes, so a busy log costs 1-2 bytes per event, and a thousand events of one instant cost
// three bytes. Events normally arrive at the back and leave at the front; both are amortised O(1).
// A late event rewrites the one block it belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"

namespace tally {

class TimeLog {
 public:
  static constexpr int64_t kEndOfTime = std::numeric_limits<int64_t>::max();
  // size() never exceeds this: Add ignores what goes beyond.
  static constexpr uint64_t kMaxSize = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

  // The number of events, not of pairs. O(1).
  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // The log must not be empty. O(1).
  int64_t oldest() const { return blocks_[head_].first; }
  int64_t newest() const { return blocks_.back().last; }

  // Adds `count` events at the instant `at`, in [0, kMaxInstantMs]; events beyond kMaxSize are
  // ignored. Amortised O(1) at the back, otherwise O(log blocks + block), or O(blocks) when a block
  // has to be split.
  void Add(int64_t at, uint64_t count);

  // Forgets the events at or before `at`. Amortised O(1) an event.
  void DropThrough(int64_t at);

  // Removes the `count` newest of the events at or before `not_after`; returns how many it removed,
  // fewer if there were fewer. O(block) for each block that it changes.
  uint64_t RemoveNewest(uint64_t count, int64_t not_after = kEndOfTime);

  // The number of events after `after`. O(blocks up to `after` + block); O(1) if all events are
  // after it, or none.
  uint64_t CountAfter(int64_t after) const;

  // The instant of the `rank`-th event after `after`, counted from 1; there must be that many
  // (asserted). O(blocks before it + block).
  int64_t NthAfter(int64_t after, uint64_t rank) const;

  // Calls visit(at, count) for each pair after `after`, oldest first; O(log blocks + pairs).
  template <typename Visit>
  void ForEachAfter(int64_t after, Visit&& visit) const {
    for (size_t i = FirstBlockAfter(after); i < blocks_.size(); ++i) {
      for (PairReader pair(blocks_[i]); !pair.done(); pair.Next()) {
        if (pair.at() > after) visit(pair.at(), pair.count());
      }
    }
  }

  // The heap bytes of the log, without the object itself.
  size_t HeapBytesUsed() const;
  // Frees whole blocks from the back until they had `budget` encoded bytes or more; returns true
  // when nothing is left.
  bool FreeSome(size_t budget);
  // Removes all events but keeps the memory of one block, so that Load and Add after it need not
  // allocate.
  void Clear();

  // Appends a run of about `max_bytes` that begins at `cursor`; returns the next cursor. 0 begins,
  // and 0 is returned at the end. A run is varint(number of pairs) and then the pairs, the first of
  // which has its instant as delta. The log must not change between the calls.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Adds the run at the front of `in` and removes it from `in`. Returns false if the run is
  // malformed; a part of it may then have been added.
  [[nodiscard]] bool Load(std::string_view& in);

 private:
  static constexpr size_t kBlockBytes = 1'023;

  struct Pair {
    int64_t at;
    uint64_t count;
  };

  // A pair is varint(delta << 1 | repeated) and, if repeated, varint(count). The delta is the
  // distance to the pair before. The first remaining pair's delta has no meaning: `first` is its
  // instant.
  struct Block {
    int64_t first = 0;
    int64_t last = 0;
    uint64_t count = 0;
    // The offsets in `bytes` of the first remaining pair and of the last pair.
    uint16_t begin = 0;
    uint16_t last_pair = 0;
    // The number of pairs from `begin` on.
    uint32_t pairs = 0;
    std::string bytes;
  };

  class PairReader {
   public:
    explicit PairReader(const Block& block);
    bool done() const { return done_; }
    int64_t at() const { return pair_.at; }
    uint64_t count() const { return pair_.count; }
    // The offset of the current pair in the block's bytes.
    uint16_t offset() const { return offset_; }
    void Next();

   private:
    void Read();

    std::string_view all_;
    std::string_view rest_;
    Pair pair_{0, 0};
    uint64_t delta_ = 0;
    uint16_t offset_ = 0;
    bool done_ = false;
  };

  static std::vector<Pair> PairsOf(const Block& block);
  static void AppendPair(Block& block, int64_t at, uint64_t count);
  static Block BlockOf(const std::vector<Pair>& pairs, size_t from, size_t to);
  static uint64_t LastCount(const Block& block);

  // The first block whose last event is after `after`; blocks_.size() if there is none.
  size_t FirstBlockAfter(int64_t after) const;
  void InsertLate(int64_t at, uint64_t count);
  // Replaces block `index` by one or two blocks with these pairs.
  void Rewrite(size_t index, const std::vector<Pair>& pairs);
  void DropFrontBlock();
  // Returns an empty block at the back, for an event that is at newest() or after it.
  Block& BeginBlock();
  // Adds pairs from the front of `in`, at most `pairs`, whose deltas count from `at`. If the first
  // one is after all events, adds as many as fit in a block, without encoding them again; otherwise
  // adds only the first. Removes them from `in` and `pairs`, and sets `at` to the last one's
  // instant. Returns false if they are malformed.
  [[nodiscard]] bool LoadSome(std::string_view& in, uint64_t& pairs, uint64_t& at);

  // Blocks before head_ are empty: they were dropped at the front, and are erased now and then.
  absl::InlinedVector<Block, 1> blocks_;
  size_t head_ = 0;
  uint64_t size_ = 0;
};

}  // namespace tally
