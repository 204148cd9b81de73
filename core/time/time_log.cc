#include "core/time/time_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/recycle.h"
#include "core/bytes/varint.h"
#include "core/time/duration.h"

namespace tally {
namespace {

// What a pair can take at most: two varints.
constexpr size_t kMaxPairBytes = 2 * kMaxVarintBytes;
// std::string holds this much without the heap.
const size_t kInlineBytes = std::string().capacity();

}  // namespace

TimeLog::PairReader::PairReader(const Block& block)
    : all_(block.bytes), rest_(all_.substr(block.begin)) {
  Read();
  pair_.at = block.first;
}

void TimeLog::PairReader::Read() {
  offset_ = static_cast<uint16_t>(all_.size() - rest_.size());
  if (rest_.empty()) {
    done_ = true;
    return;
  }
  uint64_t head = 0;
  pair_.count = 1;
  const bool whole = ReadVarint(rest_, head) && ((head & 1) == 0 || ReadVarint(rest_, pair_.count));
  Check(whole, "a block of a time log holds whole pairs");
  delta_ = head >> 1;
}

void TimeLog::PairReader::Next() {
  Read();
  if (!done_) pair_.at += static_cast<int64_t>(delta_);
}

std::vector<TimeLog::Pair> TimeLog::PairsOf(const Block& block) {
  std::vector<Pair> pairs;
  for (PairReader pair(block); !pair.done(); pair.Next())
    pairs.push_back({pair.at(), pair.count()});
  return pairs;
}

void TimeLog::AppendPair(Block& block, int64_t at, uint64_t count) {
  if (block.count == 0) block.first = block.last = at;
  const auto delta = static_cast<uint64_t>(at - block.last);
  char encoded[kMaxPairBytes];
  char* end = WriteVarint(encoded, delta << 1 | (count > 1 ? 1 : 0));
  if (count > 1) end = WriteVarint(end, count);
  const auto length = static_cast<size_t>(end - encoded);
  block.last_pair = static_cast<uint16_t>(block.bytes.size());
  block.bytes.append(encoded, length);
  block.last = at;
  block.count += count;
  ++block.pairs;
}

TimeLog::Block TimeLog::BlockOf(const std::vector<Pair>& pairs, size_t from, size_t to) {
  Block block;
  for (size_t i = from; i < to; ++i) AppendPair(block, pairs[i].at, pairs[i].count);
  return block;
}

uint64_t TimeLog::LastCount(const Block& block) {
  std::string_view pair = std::string_view(block.bytes).substr(block.last_pair);
  uint64_t head = 0;
  uint64_t count = 1;
  const bool whole = ReadVarint(pair, head) && ((head & 1) == 0 || ReadVarint(pair, count));
  Check(whole, "a block of a time log ends in a whole pair");
  return count;
}

size_t TimeLog::FirstBlockAfter(int64_t after) const {
  const auto first = blocks_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto found = std::partition_point(
      first, blocks_.end(), [after](const Block& block) { return block.last <= after; });
  return static_cast<size_t>(found - blocks_.begin());
}

void TimeLog::Add(int64_t at, uint64_t count) {
  count = std::min(count, kMaxSize - size_);
  if (count == 0) return;
  if (!empty() && at < newest()) {
    InsertLate(at, count);
    size_ += count;
    return;
  }
  if (!empty() && at == newest()) {
    // The events belong to the last pair, which is written again with the higher count.
    Block& block = blocks_.back();
    const uint64_t before = LastCount(block);
    if (block.last_pair + kMaxPairBytes <= kBlockBytes) {
      std::string_view pair = std::string_view(block.bytes).substr(block.last_pair);
      uint64_t head = 0;
      Check(ReadVarint(pair, head), "a block of a time log ends in a whole pair");
      block.bytes.resize(block.last_pair);
      block.count -= before;
      --block.pairs;
      // AppendPair computes the delta from `last`. If no other pair is left, it begins the block
      // again, and `begin` is where it writes.
      block.last = at - static_cast<int64_t>(head >> 1);
      if (block.count == 0) block.begin = block.last_pair;
      AppendPair(block, at, before + count);
      size_ += count;
      return;
    }
  }
  const bool room = !empty() && blocks_.back().bytes.size() + kMaxPairBytes <= kBlockBytes;
  AppendPair(room ? blocks_.back() : BeginBlock(), at, count);
  size_ += count;
}

TimeLog::Block& TimeLog::BeginBlock() {
  if (!empty()) {
    // Most blocks of a long log are full, so a full block keeps no room to grow.
    blocks_.back().bytes.shrink_to_fit();
    return blocks_.emplace_back();
  }
  Clear();
  if (blocks_.empty()) blocks_.emplace_back();
  return blocks_.front();
}

void TimeLog::Clear() {
  if (blocks_.size() > 1) blocks_.resize(1);
  if (!blocks_.empty()) {
    Block& block = blocks_.front();
    block.bytes.clear();
    block.first = block.last = 0;
    block.count = block.pairs = 0;
    block.begin = block.last_pair = 0;
  }
  head_ = 0;
  size_ = 0;
}

void TimeLog::InsertLate(int64_t at, uint64_t count) {
  const size_t index = FirstBlockAfter(at);
  std::vector<Pair> pairs = PairsOf(blocks_[index]);
  const auto place = std::lower_bound(pairs.begin(), pairs.end(), at,
                                      [](const Pair& pair, int64_t t) { return pair.at < t; });
  if (place->at == at) {
    place->count += count;
  } else {
    pairs.insert(place, {at, count});
  }
  Rewrite(index, pairs);
}

void TimeLog::Rewrite(size_t index, const std::vector<Pair>& pairs) {
  size_t bytes = kMaxPairBytes;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto delta = i == 0 ? 0 : static_cast<uint64_t>(pairs[i].at - pairs[i - 1].at);
    bytes += VarintBytes(delta << 1);
    if (pairs[i].count > 1) bytes += VarintBytes(pairs[i].count);
  }
  if (bytes <= kBlockBytes) {
    blocks_[index] = BlockOf(pairs, 0, pairs.size());
    return;
  }
  const size_t half = pairs.size() / 2;
  blocks_[index] = BlockOf(pairs, half, pairs.size());
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(index), BlockOf(pairs, 0, half));
}

void TimeLog::DropFrontBlock() {
  Block& block = blocks_[head_];
  size_ -= block.count;
  block.count = 0;
  Recycle(block.bytes);
  ++head_;
  // Erasing moves the remaining blocks. So it waits until there are a third as many empty blocks as
  // remaining ones.
  if (head_ * 4 >= blocks_.size()) {
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

void TimeLog::DropThrough(int64_t at) {
  while (!empty() && blocks_[head_].last <= at) DropFrontBlock();
  if (empty() || blocks_[head_].first > at) return;
  Block& block = blocks_[head_];
  PairReader pair(block);
  for (; pair.at() <= at; pair.Next()) {
    block.count -= pair.count();
    --block.pairs;
    size_ -= pair.count();
  }
  block.begin = pair.offset();
  block.first = pair.at();
}

uint64_t TimeLog::RemoveNewest(uint64_t count, int64_t not_after) {
  uint64_t left = count;
  // The blocks that have become empty are next to each other, and are erased together.
  size_t empty_begin = 0;
  size_t empty_end = 0;
  const auto erase_empty = [&] {
    const auto begin = blocks_.begin();
    blocks_.erase(begin + static_cast<std::ptrdiff_t>(empty_begin),
                  begin + static_cast<std::ptrdiff_t>(empty_end));
    empty_begin = empty_end = 0;
  };
  size_t index = blocks_.size();
  while (left > 0 && index > head_) {
    --index;
    if (blocks_[index].first > not_after) continue;
    std::vector<Pair> pairs = PairsOf(blocks_[index]);
    for (auto pair = pairs.rbegin(); pair != pairs.rend() && left > 0; ++pair) {
      if (pair->at > not_after) continue;
      const uint64_t taken = std::min(left, pair->count);
      pair->count -= taken;
      left -= taken;
      size_ -= taken;
    }
    std::erase_if(pairs, [](const Pair& pair) { return pair.count == 0; });
    if (pairs.empty()) {
      if (empty_end == 0) empty_end = index + 1;
      empty_begin = index;
    } else {
      erase_empty();
      Rewrite(index, pairs);
    }
  }
  erase_empty();
  return count - left;
}

uint64_t TimeLog::CountAfter(int64_t after) const {
  if (empty() || newest() <= after) return 0;
  if (oldest() > after) return size_;
  const size_t index = FirstBlockAfter(after);
  uint64_t before = 0;
  for (size_t i = head_; i < index; ++i) before += blocks_[i].count;
  for (PairReader pair(blocks_[index]); pair.at() <= after; pair.Next()) before += pair.count();
  return size_ - before;
}

int64_t TimeLog::NthAfter(int64_t after, uint64_t rank) const {
  for (size_t i = FirstBlockAfter(after); i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    if (block.first > after && block.count < rank) {
      rank -= block.count;
      continue;
    }
    for (PairReader pair(block); !pair.done(); pair.Next()) {
      if (pair.at() <= after) continue;
      if (pair.count() >= rank) return pair.at();
      rank -= pair.count();
    }
  }
  Check(false, "the rank is within the log");
  return 0;
}

size_t TimeLog::HeapBytesUsed() const {
  size_t bytes = blocks_.capacity() > 1 ? HeapBytes(blocks_.capacity() * sizeof(Block)) : 0;
  for (const Block& block : blocks_) {
    if (block.bytes.capacity() > kInlineBytes) bytes += HeapBytes(block.bytes.capacity() + 1);
  }
  return bytes;
}

bool TimeLog::FreeSome(size_t budget) {
  size_t freed = 0;
  while (!empty() && freed < budget) {
    freed += blocks_.back().bytes.size();
    size_ -= blocks_.back().count;
    blocks_.pop_back();
  }
  return empty();
}

uint64_t TimeLog::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  // The cursor is 1 + the index of the next block. Blocks are small enough to be saved whole.
  size_t index = cursor == 0 ? head_ : static_cast<size_t>(cursor - 1);
  size_t end = index;
  uint64_t pairs = 0;
  for (size_t bytes = 0; end < blocks_.size() && (pairs == 0 || bytes < max_bytes); ++end) {
    pairs += blocks_[end].pairs;
    bytes += blocks_[end].bytes.size() - blocks_[end].begin;
  }
  AppendVarint(out, pairs);
  int64_t last = 0;
  for (; index < end; ++index) {
    const Block& block = blocks_[index];
    if (block.pairs == 0) continue;
    // Only the block's first pair is encoded again: its delta is the distance from the last pair of
    // the block before, or from 0 in the first block.
    std::string_view rest = std::string_view(block.bytes).substr(block.begin);
    uint64_t head = 0;
    Check(ReadVarint(rest, head), "a block of a time log holds whole pairs");
    AppendVarint(out, static_cast<uint64_t>(block.first - last) << 1 | (head & 1));
    out += rest;
    last = block.last;
  }
  return index < blocks_.size() ? index + 1 : 0;
}

bool TimeLog::LoadSome(std::string_view& in, uint64_t& pairs, uint64_t& at) {
  const char* const begin = in.data();
  const uint64_t pairs_before = pairs;
  int64_t first = 0;
  uint64_t sum = 0;
  const char* last_pair = begin;
  while (pairs > 0 && static_cast<size_t>(in.data() - begin) + kMaxPairBytes <= kBlockBytes) {
    const char* const pair = in.data();
    uint64_t head = 0;
    uint64_t count = 1;
    if (!ReadVarint(in, head)) return false;
    if ((head & 1) != 0 && (!ReadVarint(in, count) || count == 0)) return false;
    if (__builtin_add_overflow(at, head >> 1, &at) || at > kMaxInstantMs) return false;
    if (__builtin_add_overflow(sum, count, &sum) || sum > kMaxSize - size_) return false;
    --pairs;
    const auto instant = static_cast<int64_t>(at);
    if (pair == begin) {
      if (!empty() && instant <= newest()) {
        Add(instant, count);
        return true;
      }
      first = instant;
    }
    last_pair = pair;
  }
  Block& block = BeginBlock();
  block.bytes.assign(begin, static_cast<size_t>(in.data() - begin));
  block.first = first;
  block.last = static_cast<int64_t>(at);
  block.last_pair = static_cast<uint16_t>(last_pair - begin);
  block.count = sum;
  block.pairs = static_cast<uint32_t>(pairs_before - pairs);
  size_ += sum;
  return true;
}

bool TimeLog::Load(std::string_view& in) {
  uint64_t pairs = 0;
  // A pair takes at least one byte, so a number of pairs above the number of bytes is malformed.
  if (!ReadVarint(in, pairs) || pairs > in.size()) return false;
  for (uint64_t at = 0; pairs > 0;) {
    if (!LoadSome(in, pairs, at)) return false;
  }
  return true;
}

}  // namespace tally
