// A block of a TimeLog: the delta-coded pairs (instant, number of events) of a part of the log.
//
// A pair is varint(delta << 1 | repeated) and, if repeated, varint(count). The delta is the
// distance to the pair before. The first remaining pair's delta has no meaning: first_ms() is its
// instant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.h"
#include "core/bytes/varint.h"

namespace tally {

// Instants are unix ms and ascend from pair to pair.
class TimeBlock {
 public:
  // A block has at most this many encoded bytes. A pair takes at most two varints.
  static constexpr size_t kMaxBytes = 1'023;
  static constexpr size_t kMaxPairBytes = 2 * kMaxVarintBytes;

  struct Pair {
    int64_t at_ms;
    uint64_t count;
  };

  // Encoded pairs, as AppendTo writes them, and what they say.
  struct Encoded {
    std::string_view bytes;
    int64_t first_ms = 0;
    int64_t last_ms = 0;
    size_t last_pair = 0;  // where the last pair begins in `bytes`
    uint64_t count = 0;    // events
    uint64_t pairs = 0;
  };

  class PairReader;

  // first_ms() and last_ms() are valid if the block is not empty.
  int64_t first_ms() const { return first_ms_; }
  int64_t last_ms() const { return last_ms_; }
  // The number of events, and of the pairs that hold them. O(1).
  uint64_t count() const { return count_; }
  uint32_t pairs() const { return pairs_; }
  // The encoded bytes of the remaining pairs, and of these and the pairs dropped before them.
  size_t bytes() const { return bytes_.size() - begin_; }
  size_t bytes_with_dropped() const { return bytes_.size(); }
  // Whether a pair of any length may be appended.
  bool has_room() const { return bytes_.size() + kMaxPairBytes <= kMaxBytes; }

  // Appends a pair; `at_ms` is after last_ms(), or equal to it, and has_room().
  void Append(int64_t at_ms, uint64_t count);
  // Adds events to the last pair, which exists. Returns false and changes nothing if the block may
  // have no room for the longer pair.
  [[nodiscard]] bool AddToLast(uint64_t count);
  // Drops the pairs at or before `at_ms`, which is in [first_ms(), last_ms()), and returns how many
  // events they had. O(pairs dropped).
  uint64_t DropThrough(int64_t at_ms);
  // Replaces the content.
  void Assign(const Encoded& encoded);

  // O(pairs).
  std::vector<Pair> Pairs() const;
  // A block of the pairs [from, to), which must fit (see EncodedBytes).
  static TimeBlock Of(const std::vector<Pair>& pairs, size_t from, size_t to);
  // At most this many bytes are needed for the pairs.
  static size_t EncodedBytes(const std::vector<Pair>& pairs);

  // Appends the pairs to `out`, with the distance from `before_ms` as the first one's delta. The
  // block must not be empty.
  void AppendTo(std::string& out, int64_t before_ms) const;

  // Removes all pairs but keeps the memory.
  void Clear();
  // Removes all pairs and frees the memory.
  void Discard();
  // Frees what is allocated for pairs to come.
  void ShrinkToFit() { bytes_.shrink_to_fit(); }
  // The heap bytes, rounded to size classes.
  size_t HeapBytesUsed() const;

 private:
  int64_t first_ms_ = 0;
  int64_t last_ms_ = 0;
  uint64_t count_ = 0;
  // The offsets in `bytes_` of the first remaining pair and of the last pair.
  uint16_t begin_ = 0;
  uint16_t last_pair_ = 0;
  // The number of pairs from `begin_` on.
  uint32_t pairs_ = 0;
  std::string bytes_;
};

// Reads the pairs of a block, which must not change meanwhile.
class TimeBlock::PairReader {
 public:
  explicit PairReader(const TimeBlock& block)
      : all_(block.bytes_), rest_(all_.substr(block.begin_)) {
    Read();
    pair_.at_ms = block.first_ms_;
  }

  bool done() const { return done_; }
  int64_t at_ms() const { return pair_.at_ms; }
  uint64_t count() const { return pair_.count; }
  // The offset of the current pair in the block's bytes.
  uint16_t offset() const { return offset_; }

  void Next() {
    Read();
    if (!done_) pair_.at_ms += static_cast<int64_t>(delta_);
  }

 private:
  void Read() {
    offset_ = static_cast<uint16_t>(all_.size() - rest_.size());
    if (rest_.empty()) {
      done_ = true;
      return;
    }
    uint64_t head = 0;
    pair_.count = 1;
    const bool whole =
        ReadVarint(rest_, head) && ((head & 1) == 0 || ReadVarint(rest_, pair_.count));
    Check(whole, "a block of a time log holds whole pairs");
    delta_ = head >> 1;
  }

  std::string_view all_;
  std::string_view rest_;
  Pair pair_{0, 0};
  uint64_t delta_ = 0;
  uint16_t offset_ = 0;
  bool done_ = false;
};

}  // namespace tally
