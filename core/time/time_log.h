// A sorted log of instants, which may repeat, for exact sliding windows.
//
// Equal instants are one (time, count) pair. Pairs are delta-coded in blocks (time_block.h), so a
// busy log costs 1-2 bytes per event, and a thousand events of one instant cost three bytes. Events
// normally arrive at the back and leave at the front; both are amortised O(1). A late event
// rewrites the one block it belongs to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/time/time_block.h"

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
  int64_t oldest_ms() const { return blocks_[head_].first_ms(); }
  int64_t newest_ms() const { return blocks_.back().last_ms(); }

  // Adds `count` events at the instant `at_ms`, in [0, kMaxInstantMs]; events beyond kMaxSize are
  // ignored. Amortised O(1) at the back, otherwise O(log blocks + block), or O(blocks) when a block
  // has to be split.
  void Add(int64_t at_ms, uint64_t count);

  // Forgets the events at or before `at_ms`. Amortised O(1) an event.
  void DropThrough(int64_t at_ms);

  // Removes the `count` newest of the events at or before `not_after_ms`; returns how many it
  // removed, fewer if there were fewer. O(block) for each block that it changes.
  uint64_t RemoveNewest(uint64_t count, int64_t not_after_ms = kEndOfTime);

  // Removes at most `count` of the events at the instant `at_ms`. O(log blocks + block), or
  // O(blocks) if a block becomes empty.
  void RemoveAt(uint64_t count, int64_t at_ms);

  // For each pair, removes at most its count of the events at its instant; the pairs may be in any
  // order. Returns what it has removed, each instant once, ascending. One pass over the log if they
  // are many.
  std::vector<TimeBlock::Pair> RemoveEach(std::vector<TimeBlock::Pair> pairs);
  // Adds the pairs, which ascend. One pass over the log if they are many.
  void AddEach(const std::vector<TimeBlock::Pair>& pairs);

  // Makes the events after `at_ms` events of `at_ms`. O(block) for each block that it changes.
  void SetBackTo(int64_t at_ms) {
    const uint64_t count = CountAfter(at_ms);
    RemoveNewest(count);
    Add(at_ms, count);
  }

  // The number of events after `after_ms`. O(blocks up to `after_ms` + block); O(1) if all events
  // are after it, or none.
  uint64_t CountAfter(int64_t after_ms) const;

  // The instant of the `rank`-th event after `after_ms`, counted from 1; there must be that many
  // (asserted). O(blocks before it + block).
  int64_t NthAfter(int64_t after_ms, uint64_t rank) const;

  // Calls visit(at_ms, count) for each pair after `after_ms`, oldest first; O(log blocks + pairs).
  template <typename Visit>
  void ForEachAfter(int64_t after_ms, Visit&& visit) const {
    for (size_t i = FirstBlockAfter(after_ms); i < blocks_.size(); ++i) {
      for (TimeBlock::PairReader pair(blocks_[i]); !pair.done(); pair.Next()) {
        if (pair.at_ms() > after_ms) visit(pair.at_ms(), pair.count());
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
  // The first block whose last event is after `after_ms`; blocks_.size() if there is none.
  size_t FirstBlockAfter(int64_t after_ms) const;
  // Whether so many changes anywhere cost more than to write the whole log again.
  bool AreMany(size_t changes) const { return changes > 1 + blocks_.size() / 4; }
  void InsertLate(int64_t at_ms, uint64_t count);
  // Replaces block `index` by one or two blocks with these pairs.
  void Rewrite(size_t index, const std::vector<TimeBlock::Pair>& pairs);
  void DropFrontBlock();
  // Returns an empty block at the back, for an event that is at newest_ms() or after it.
  TimeBlock& BeginBlock();
  // Adds pairs from the front of `in`, at most `pairs`, whose deltas count from `at`. If the first
  // one is after all events, adds as many as fit in a block, without encoding them again; otherwise
  // adds only the first. Removes them from `in` and `pairs`, and sets `at` to the last one's
  // instant. Returns false if they are malformed.
  [[nodiscard]] bool LoadSome(std::string_view& in, uint64_t& pairs, uint64_t& at);

  // Blocks before head_ are empty: they were dropped at the front, and are erased now and then.
  absl::InlinedVector<TimeBlock, 1> blocks_;
  size_t head_ = 0;
  uint64_t size_ = 0;
};

}  // namespace tally
