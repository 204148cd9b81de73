// A sorted log of instants with repeats, for exact sliding windows.
//
// Runs of equal instants are one (time, count) pair; pairs are delta-coded in blocks of at most
// kBlockBytes, so a busy log costs 1-2 bytes an event and a thousand events of one instant cost
// three. Events normally arrive at the back and leave at the front: both amortised O(1). A late
// event rewrites the one block it belongs to.
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
  // Whatever is counted, size() stays at or below this.
  static constexpr uint64_t kMaxSize = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

  // Events, not pairs. O(1).
  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Only of a log that is not empty. O(1).
  int64_t oldest() const { return blocks_[head_].first; }
  int64_t newest() const { return blocks_.back().last; }

  // Adds `count` events at `at`, in [0, kMaxInstantMs]; what goes beyond kMaxSize is not counted.
  // Amortised O(1) at the back, otherwise O(log blocks + block) and rarely O(blocks).
  void Add(int64_t at, uint64_t count);

  // Forgets the events at or before `at`. Amortised O(1) an event.
  void DropThrough(int64_t at);

  // Takes away the `count` newest of the events at or before `not_after`; returns how many there
  // were. O(block) for each block that it empties.
  uint64_t RemoveNewest(uint64_t count, int64_t not_after = kEndOfTime);

  // Events after `after`. O(blocks up to `after` + block); O(1) if that is all of them.
  uint64_t CountAfter(int64_t after) const;

  // The instant of the `rank`-th event after `after`, from 1; there must be that many.
  // O(blocks before it + block).
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

  // The heap bytes that it owns, without the object itself.
  size_t HeapBytesUsed() const;
  // Frees about `budget` events, whole blocks at a time; true when nothing is left.
  bool FreeSome(size_t budget);
  // Forgets everything but keeps room for a block, so that Load and Add after it do not allocate.
  void Clear();

  // Appends runs, as AppendRuns writes them, of about `max_bytes` from `cursor` on: 0 begins; the
  // result is the next cursor, 0 at the end. The log must not change between calls.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Adds the runs at the front of `in` and takes them off; false, with some of them added perhaps,
  // if they are malformed.
  [[nodiscard]] bool Load(std::string_view& in);

 private:
  static constexpr size_t kBlockBytes = 1'023;

  struct Pair {
    int64_t at;
    uint64_t count;
  };

  // Pairs are varint(delta << 1 | repeated) and, if repeated, varint(count). The delta is to the
  // pair before; that of the first pair still there has no meaning, as `first` says its time.
  struct Block {
    int64_t first = 0;
    int64_t last = 0;
    uint64_t count = 0;
    // Where the first pair that is still there, and the last pair, begin.
    uint16_t begin = 0;
    uint16_t last_pair = 0;
    // From `begin` on.
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
  // Puts the pairs in the place of block `index`, as one block or two.
  void Rewrite(size_t index, const std::vector<Pair>& pairs);
  void DropFrontBlock();
  // An empty block at the back, for an event after all others.
  Block& BeginBlock();
  // Takes at most `pairs` pairs, of times from `at` on, off the front of `in`: as a block in one
  // piece if they follow what is there, else the first of them. Counts `pairs` down and `at` up.
  [[nodiscard]] bool LoadSome(std::string_view& in, uint64_t& pairs, uint64_t& at);

  // Blocks before head_ are empty: they have left at the front, and are erased now and then.
  absl::InlinedVector<Block, 1> blocks_;
  size_t head_ = 0;
  uint64_t size_ = 0;
};

}  // namespace tally
