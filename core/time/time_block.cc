#include "core/time/time_block.h"

#include "core/bytes/heap_size.h"
#include "core/bytes/recycle.h"

namespace tally {
namespace {

// std::string holds this much without the heap.
const size_t kInlineBytes = std::string().capacity();

}  // namespace

void TimeBlock::Append(int64_t at_ms, uint64_t count) {
  if (count_ == 0) first_ms_ = last_ms_ = at_ms;
  const auto delta = static_cast<uint64_t>(at_ms - last_ms_);
  char encoded[kMaxPairBytes];
  char* end = WriteVarint(encoded, delta << 1 | (count > 1 ? 1 : 0));
  if (count > 1) end = WriteVarint(end, count);
  const auto length = static_cast<size_t>(end - encoded);
  last_pair_ = static_cast<uint16_t>(bytes_.size());
  bytes_.append(encoded, length);
  last_ms_ = at_ms;
  count_ += count;
  ++pairs_;
}

bool TimeBlock::AddToLast(uint64_t count) {
  if (last_pair_ + kMaxPairBytes > kMaxBytes) return false;
  std::string_view pair = std::string_view(bytes_).substr(last_pair_);
  uint64_t head = 0;
  uint64_t before = 1;
  const bool whole = ReadVarint(pair, head) && ((head & 1) == 0 || ReadVarint(pair, before));
  Check(whole, "a block of a time log ends in a whole pair");
  // The pair is written again with the higher count.
  const int64_t at_ms = last_ms_;
  bytes_.resize(last_pair_);
  count_ -= before;
  --pairs_;
  // Append computes the delta from `last_ms_`. If no other pair is left, it begins the block again,
  // and `begin_` is where it writes.
  last_ms_ = at_ms - static_cast<int64_t>(head >> 1);
  if (count_ == 0) begin_ = last_pair_;
  Append(at_ms, before + count);
  return true;
}

uint64_t TimeBlock::DropThrough(int64_t at_ms) {
  const uint64_t before = count_;
  PairReader pair(*this);
  for (; pair.at_ms() <= at_ms; pair.Next()) {
    count_ -= pair.count();
    --pairs_;
  }
  begin_ = pair.offset();
  first_ms_ = pair.at_ms();
  return before - count_;
}

void TimeBlock::Assign(const Encoded& encoded) {
  bytes_.assign(encoded.bytes);
  first_ms_ = encoded.first_ms;
  last_ms_ = encoded.last_ms;
  begin_ = 0;
  last_pair_ = static_cast<uint16_t>(encoded.last_pair);
  count_ = encoded.count;
  pairs_ = static_cast<uint32_t>(encoded.pairs);
}

std::vector<TimeBlock::Pair> TimeBlock::Pairs() const {
  std::vector<Pair> pairs;
  for (PairReader pair(*this); !pair.done(); pair.Next())
    pairs.push_back({pair.at_ms(), pair.count()});
  return pairs;
}

TimeBlock TimeBlock::Of(const std::vector<Pair>& pairs, size_t from, size_t to) {
  TimeBlock block;
  for (size_t i = from; i < to; ++i) block.Append(pairs[i].at_ms, pairs[i].count);
  return block;
}

size_t TimeBlock::EncodedBytes(const std::vector<Pair>& pairs) {
  size_t bytes = kMaxPairBytes;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto delta = i == 0 ? 0 : static_cast<uint64_t>(pairs[i].at_ms - pairs[i - 1].at_ms);
    bytes += VarintBytes(delta << 1);
    if (pairs[i].count > 1) bytes += VarintBytes(pairs[i].count);
  }
  return bytes;
}

void TimeBlock::AppendTo(std::string& out, int64_t before_ms) const {
  // Only the first pair is encoded again.
  std::string_view rest = std::string_view(bytes_).substr(begin_);
  uint64_t head = 0;
  Check(ReadVarint(rest, head), "a block of a time log holds whole pairs");
  AppendVarint(out, static_cast<uint64_t>(first_ms_ - before_ms) << 1 | (head & 1));
  out += rest;
}

void TimeBlock::Clear() {
  bytes_.clear();
  first_ms_ = last_ms_ = 0;
  count_ = pairs_ = 0;
  begin_ = last_pair_ = 0;
}

void TimeBlock::Discard() {
  Clear();
  Recycle(bytes_);
}

size_t TimeBlock::HeapBytesUsed() const {
  return bytes_.capacity() > kInlineBytes ? HeapBytes(bytes_.capacity() + 1) : 0;
}

}  // namespace tally
