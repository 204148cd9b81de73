#include "core/time/time_log.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/varint.h"
#include "core/time/duration.h"

namespace tally {
namespace {

constexpr int kDigitBits = 11;

// One pass of a radix sort, by the digit of (at - first) that begins at this bit.
void SortByDigit(const std::vector<TimeBlock::Pair>& from, int64_t first_ms, int bit,
                 std::vector<TimeBlock::Pair>& into) {
  std::array<uint32_t, (size_t{1} << kDigitBits) + 1> begins{};
  const auto digit = [&](const TimeBlock::Pair& pair) {
    return static_cast<size_t>(pair.at_ms - first_ms) >> bit & (begins.size() - 2);
  };
  for (const TimeBlock::Pair& pair : from) ++begins[digit(pair) + 1];
  for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  for (const TimeBlock::Pair& pair : from) into[begins[digit(pair)]++] = pair;
}

// One call may remove the hits of 100,000 holds, of which each comparison is a surprise for the
// processor.
void Sort(std::vector<TimeBlock::Pair>& pairs) {
  constexpr size_t kMany = 4'000;
  const auto before = [](const TimeBlock::Pair& a, const TimeBlock::Pair& b) {
    return a.at_ms < b.at_ms;
  };
  if (pairs.size() < kMany) return std::sort(pairs.begin(), pairs.end(), before);
  const auto [first, last] = std::minmax_element(pairs.begin(), pairs.end(), before);
  const int64_t begin_ms = first->at_ms;
  const auto span = static_cast<uint64_t>(last->at_ms - begin_ms);
  std::vector<TimeBlock::Pair> sorted(pairs.size());
  for (int bit = 0; bit < 64 && span >> bit != 0; bit += kDigitBits) {
    SortByDigit(pairs, begin_ms, bit, sorted);
    pairs.swap(sorted);
  }
}

// Sorts the pairs, and makes one of those of the same instant.
void SortAndJoin(std::vector<TimeBlock::Pair>& pairs) {
  Sort(pairs);
  size_t joined = 0;
  for (size_t i = 1; i < pairs.size(); ++i) {
    if (pairs[i].at_ms != pairs[joined].at_ms) {
      pairs[++joined] = pairs[i];
    } else if (__builtin_add_overflow(pairs[joined].count, pairs[i].count, &pairs[joined].count)) {
      pairs[joined].count = TimeLog::kMaxSize;
    }
  }
  if (!pairs.empty()) pairs.resize(joined + 1);
}

}  // namespace

size_t TimeLog::FirstBlockAfter(int64_t after_ms) const {
  const auto first = blocks_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto found = std::partition_point(first, blocks_.end(), [after_ms](const TimeBlock& block) {
    return block.last_ms() <= after_ms;
  });
  return static_cast<size_t>(found - blocks_.begin());
}

void TimeLog::Add(int64_t at_ms, uint64_t count) {
  count = std::min(count, kMaxSize - size_);
  if (count == 0) return;
  if (!empty() && at_ms < newest_ms()) {
    InsertLate(at_ms, count);
    size_ += count;
    return;
  }
  if (!empty() && at_ms == newest_ms() && blocks_.back().AddToLast(count)) {
    size_ += count;
    return;
  }
  TimeBlock& block = !empty() && blocks_.back().has_room() ? blocks_.back() : BeginBlock();
  block.Append(at_ms, count);
  size_ += count;
}

TimeBlock& TimeLog::BeginBlock() {
  if (!empty()) {
    // Most blocks of a long log are full, so a full block keeps no room to grow.
    blocks_.back().ShrinkToFit();
    return blocks_.emplace_back();
  }
  Clear();
  if (blocks_.empty()) blocks_.emplace_back();
  return blocks_.front();
}

void TimeLog::Clear() {
  if (blocks_.size() > 1) blocks_.resize(1);
  if (!blocks_.empty()) blocks_.front().Clear();
  head_ = 0;
  size_ = 0;
}

void TimeLog::InsertLate(int64_t at_ms, uint64_t count) {
  const size_t index = FirstBlockAfter(at_ms);
  std::vector<TimeBlock::Pair> pairs = blocks_[index].Pairs();
  const auto place =
      std::lower_bound(pairs.begin(), pairs.end(), at_ms,
                       [](const TimeBlock::Pair& pair, int64_t t) { return pair.at_ms < t; });
  if (place->at_ms == at_ms) {
    place->count += count;
  } else {
    pairs.insert(place, {at_ms, count});
  }
  Rewrite(index, pairs);
}

void TimeLog::Rewrite(size_t index, const std::vector<TimeBlock::Pair>& pairs) {
  if (TimeBlock::EncodedBytes(pairs) <= TimeBlock::kMaxBytes) {
    blocks_[index] = TimeBlock::Of(pairs, 0, pairs.size());
    return;
  }
  const size_t half = pairs.size() / 2;
  blocks_[index] = TimeBlock::Of(pairs, half, pairs.size());
  blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(index),
                 TimeBlock::Of(pairs, 0, half));
}

void TimeLog::DropFrontBlock() {
  size_ -= blocks_[head_].count();
  blocks_[head_].Discard();
  ++head_;
  // Erasing moves the remaining blocks. So it waits until there are a third as many empty blocks as
  // remaining ones.
  if (head_ * 4 >= blocks_.size()) {
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

void TimeLog::DropThrough(int64_t at_ms) {
  while (!empty() && blocks_[head_].last_ms() <= at_ms) DropFrontBlock();
  if (empty() || blocks_[head_].first_ms() > at_ms) return;
  size_ -= blocks_[head_].DropThrough(at_ms);
}

uint64_t TimeLog::RemoveNewest(uint64_t count, int64_t not_after_ms) {
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
    if (blocks_[index].first_ms() > not_after_ms) continue;
    std::vector<TimeBlock::Pair> pairs = blocks_[index].Pairs();
    for (auto pair = pairs.rbegin(); pair != pairs.rend() && left > 0; ++pair) {
      if (pair->at_ms > not_after_ms) continue;
      const uint64_t taken = std::min(left, pair->count);
      pair->count -= taken;
      left -= taken;
      size_ -= taken;
    }
    std::erase_if(pairs, [](const TimeBlock::Pair& pair) { return pair.count == 0; });
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

void TimeLog::RemoveAt(uint64_t count, int64_t at_ms) {
  const size_t index = FirstBlockAfter(at_ms - 1);
  if (index == blocks_.size() || blocks_[index].first_ms() > at_ms) return;
  std::vector<TimeBlock::Pair> pairs = blocks_[index].Pairs();
  const auto pair = std::find_if(pairs.begin(), pairs.end(), [at_ms](const TimeBlock::Pair& one) {
    return one.at_ms == at_ms;
  });
  if (pair == pairs.end()) return;
  const uint64_t taken = std::min(count, pair->count);
  pair->count -= taken;
  size_ -= taken;
  if (pair->count == 0) pairs.erase(pair);
  if (pairs.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
  } else {
    Rewrite(index, pairs);
  }
}

std::vector<TimeBlock::Pair> TimeLog::RemoveEach(std::vector<TimeBlock::Pair> pairs) {
  SortAndJoin(pairs);
  std::vector<TimeBlock::Pair> removed;
  if (!AreMany(pairs.size())) {
    for (const TimeBlock::Pair& pair : pairs) {
      const uint64_t before = size_;
      RemoveAt(pair.count, pair.at_ms);
      if (size_ < before) removed.push_back({pair.at_ms, before - size_});
    }
    return removed;
  }
  TimeLog left;
  auto next = pairs.begin();
  ForEachAfter(-1, [&](int64_t at_ms, uint64_t count) {
    while (next != pairs.end() && next->at_ms < at_ms) ++next;
    if (next != pairs.end() && next->at_ms == at_ms && next->count > 0) {
      removed.push_back({at_ms, std::min(count, next->count)});
      count -= removed.back().count;
    }
    left.Add(at_ms, count);
  });
  *this = std::move(left);
  return removed;
}

void TimeLog::AddEach(const std::vector<TimeBlock::Pair>& pairs) {
  if (!AreMany(pairs.size())) {
    for (const auto& [at_ms, count] : pairs) Add(at_ms, count);
    return;
  }
  TimeLog all;
  auto next = pairs.begin();
  ForEachAfter(-1, [&](int64_t at_ms, uint64_t count) {
    for (; next != pairs.end() && next->at_ms < at_ms; ++next) all.Add(next->at_ms, next->count);
    all.Add(at_ms, count);
  });
  for (; next != pairs.end(); ++next) all.Add(next->at_ms, next->count);
  *this = std::move(all);
}

uint64_t TimeLog::CountAfter(int64_t after_ms) const {
  if (empty() || newest_ms() <= after_ms) return 0;
  if (oldest_ms() > after_ms) return size_;
  const size_t index = FirstBlockAfter(after_ms);
  uint64_t before = 0;
  for (size_t i = head_; i < index; ++i) before += blocks_[i].count();
  for (TimeBlock::PairReader pair(blocks_[index]); pair.at_ms() <= after_ms; pair.Next())
    before += pair.count();
  return size_ - before;
}

int64_t TimeLog::NthAfter(int64_t after_ms, uint64_t rank) const {
  for (size_t i = FirstBlockAfter(after_ms); i < blocks_.size(); ++i) {
    const TimeBlock& block = blocks_[i];
    if (block.first_ms() > after_ms && block.count() < rank) {
      rank -= block.count();
      continue;
    }
    for (TimeBlock::PairReader pair(block); !pair.done(); pair.Next()) {
      if (pair.at_ms() <= after_ms) continue;
      if (pair.count() >= rank) return pair.at_ms();
      rank -= pair.count();
    }
  }
  Check(false, "the rank is within the log");
  return 0;
}

size_t TimeLog::HeapBytesUsed() const {
  size_t bytes = blocks_.capacity() > 1 ? HeapBytes(blocks_.capacity() * sizeof(TimeBlock)) : 0;
  for (const TimeBlock& block : blocks_) bytes += block.HeapBytesUsed();
  return bytes;
}

bool TimeLog::FreeSome(size_t budget) {
  size_t freed = 0;
  while (!empty() && freed < budget) {
    freed += blocks_.back().bytes_with_dropped();
    size_ -= blocks_.back().count();
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
    pairs += blocks_[end].pairs();
    bytes += blocks_[end].bytes();
  }
  AppendVarint(out, pairs);
  // The first block's first delta is the distance from 0.
  int64_t last_ms = 0;
  for (; index < end; ++index) {
    if (blocks_[index].pairs() == 0) continue;
    blocks_[index].AppendTo(out, last_ms);
    last_ms = blocks_[index].last_ms();
  }
  return index < blocks_.size() ? index + 1 : 0;
}

bool TimeLog::LoadSome(std::string_view& in, uint64_t& pairs, uint64_t& at) {
  const char* const begin = in.data();
  const uint64_t pairs_before = pairs;
  int64_t first_ms = 0;
  uint64_t sum = 0;
  const char* last_pair = begin;
  while (pairs > 0 && static_cast<size_t>(in.data() - begin) + TimeBlock::kMaxPairBytes <=
                          TimeBlock::kMaxBytes) {
    const char* const pair = in.data();
    uint64_t head = 0;
    uint64_t count = 1;
    if (!ReadVarint(in, head)) return false;
    if ((head & 1) != 0 && (!ReadVarint(in, count) || count == 0)) return false;
    if (__builtin_add_overflow(at, head >> 1, &at) || at > kMaxInstantMs) return false;
    if (__builtin_add_overflow(sum, count, &sum) || sum > kMaxSize - size_) return false;
    --pairs;
    const auto instant_ms = static_cast<int64_t>(at);
    if (pair == begin) {
      if (!empty() && instant_ms <= newest_ms()) {
        Add(instant_ms, count);
        return true;
      }
      first_ms = instant_ms;
    }
    last_pair = pair;
  }
  TimeBlock::Encoded encoded;
  encoded.bytes = {begin, static_cast<size_t>(in.data() - begin)};
  encoded.first_ms = first_ms;
  encoded.last_ms = static_cast<int64_t>(at);
  encoded.last_pair = static_cast<size_t>(last_pair - begin);
  encoded.count = sum;
  encoded.pairs = pairs_before - pairs;
  BeginBlock().Assign(encoded);
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
