#include "core/list/int_ring.h"

#include <utility>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

// With this many entries or fewer, blocks become a run again. A run may hold 32; the limit is lower
// so that pushes and pops around it do not convert each time.
constexpr size_t kSettleEntries = 16;
// In a ring of this many blocks or more, a new block is allocated at full size. In a smaller ring
// the empty room would weigh too much.
constexpr size_t kLargeBlocks = 16;

}  // namespace

IntRing::IntRing(IntRing&& other) noexcept : word_(std::exchange(other.word_, 0)) {}

IntRing& IntRing::operator=(IntRing&& other) noexcept {
  if (this != &other) {
    Clear();
    word_ = std::exchange(other.word_, 0);
  }
  return *this;
}

IntRing IntRing::Clone() const {
  IntRing copy;
  if (blocked()) {
    auto* copies = new Blocks;
    for (const IntBlock& block : blocks()) copies->PushBack(block.Clone());
    copy.word_ = reinterpret_cast<uintptr_t>(copies) | kBlockedBit;
  } else if (!empty()) {
    copy.word_ = reinterpret_cast<uintptr_t>(int_run::Clone(run()));
  }
  return copy;
}

void IntRing::Clear() {
  if (blocked()) {
    delete &blocks();
  } else {
    delete[] run();
  }
  word_ = 0;
}

bool IntRing::FreeSome(size_t entries) {
  if (blocked() && entries < size()) {
    blocks().FreeBack(entries);
    if (blocks().size() > 0) return false;
  }
  Clear();
  return true;
}

size_t IntRing::size() const {
  if (blocked()) return blocks().size();
  return empty() ? 0 : int_run::Size(run());
}

int64_t IntRing::At(size_t i) const {
  Check(i < size(), "an index lies inside the ring");
  if (!blocked()) return int_run::At(run(), i);
  const auto [k, offset] = blocks().Locate(i);
  return blocks()[k].At(offset);
}

void IntRing::AssignSmall(const int64_t* values, size_t count) {
  Clear();
  if (count == 0) return;
  if (count <= int_run::kMaxEntries) {
    word_ = reinterpret_cast<uintptr_t>(int_run::New(values, count));
    return;
  }
  auto* made = new Blocks;
  IntBlock block;
  block.Assign(values, count);
  made->PushBack(std::move(block));
  word_ = reinterpret_cast<uintptr_t>(made) | kBlockedBit;
}

template <typename Edit>
void IntRing::EditSmall(Edit&& edit) {
  int64_t values[int_run::kMaxEntries + 1];
  const size_t count = size();
  if (count > 0) int_run::Read(run(), values);
  const size_t left = edit(values, count);
  AssignSmall(values, left);
}

void IntRing::Settle() {
  if (!blocked() || size() > kSettleEntries) return;
  int64_t values[kSettleEntries];
  size_t count = 0;
  ForEach(0, size(), [&](int64_t value) {
    values[count++] = value;
    return true;
  });
  AssignSmall(values, count);
}

void IntRing::PushBack(int64_t value) {
  if (!blocked()) {
    if (!empty() && int_run::TryPushBack(run(), value)) return;
    Insert(size(), value);
    return;
  }
  Blocks& all = blocks();
  if (all.back().PushBack(value)) {
    all.GrewBack();
  } else if (all.span_count() >= kLargeBlocks) {
    all.PushBack(IntBlock::Like(all.back(), value, /*at_front=*/false));
  } else {
    IntBlock block;
    block.Assign(&value, 1);
    all.PushBack(std::move(block));
  }
}

void IntRing::PushBack(std::span<const int64_t> values) {
  if (empty() && values.size() <= int_run::kMaxEntries) {
    return AssignSmall(values.data(), values.size());
  }
  for (const int64_t value : values) PushBack(value);
}

void IntRing::PushFront(int64_t value) {
  if (!blocked()) {
    Insert(0, value);
    return;
  }
  Blocks& all = blocks();
  if (all.front().PushFront(value)) {
    all.GrewFront();
  } else if (all.span_count() >= kLargeBlocks) {
    all.PushFront(IntBlock::Like(all.front(), value, /*at_front=*/true));
  } else {
    IntBlock block;
    block.Assign(&value, 1);
    all.PushFront(std::move(block));
  }
}

int64_t IntRing::PopFront() {
  const int64_t value = Front();
  DropFront(1);
  return value;
}

int64_t IntRing::PopBack() {
  const int64_t value = Back();
  DropBack(1);
  return value;
}

void IntRing::DropFront(size_t count) {
  Check(count <= size(), "a ring gives up no more than it has");
  if (count == size()) return Clear();
  if (!blocked()) {
    return EditSmall([&](int64_t* values, size_t size) {
      std::copy(values + count, values + size, values);
      return size - count;
    });
  }
  for (Blocks& all = blocks(); count > 0;) {
    const size_t part = std::min(count, all.front().size());
    all.front().DropFront(part);
    all.ShrankFront(part);
    count -= part;
  }
  Settle();
}

void IntRing::DropBack(size_t count) {
  Check(count <= size(), "a ring gives up no more than it has");
  if (count == size()) return Clear();
  if (!blocked()) {
    return EditSmall([&](int64_t*, size_t size) { return size - count; });
  }
  for (Blocks& all = blocks(); count > 0;) {
    const size_t part = std::min(count, all.back().size());
    all.back().DropBack(part);
    all.ShrankBack(part);
    count -= part;
  }
  Settle();
}

void IntRing::Set(size_t i, int64_t value) {
  Check(i < size(), "an index lies inside the ring");
  if (!blocked()) {
    return EditSmall([&](int64_t* values, size_t size) {
      values[i] = value;
      return size;
    });
  }
  const auto [k, offset] = blocks().Locate(i);
  blocks()[k].Set(offset, value);
}

void IntRing::Insert(size_t i, int64_t value) {
  Check(i <= size(), "an entry is inserted inside the ring or at its end");
  if (!blocked()) {
    return EditSmall([&](int64_t* values, size_t size) {
      std::copy_backward(values + i, values + size, values + size + 1);
      values[i] = value;
      return size + 1;
    });
  }
  if (i == 0) return PushFront(value);
  if (i == size()) return PushBack(value);
  InsertInBlocks(i, value);
}

void IntRing::InsertInBlocks(size_t i, int64_t value) {
  auto [k, offset] = blocks().Locate(i);
  if (blocks()[k].size() == IntBlock::kMaxEntries) {
    Split(k);
    const size_t half = blocks()[k].size();
    if (offset > half) {
      ++k;
      offset -= half;
    }
  }
  IntBlock& block = blocks()[k];
  int64_t values[IntBlock::kMaxEntries];
  block.Read(0, offset, values);
  values[offset] = value;
  block.Read(offset, block.size(), values + offset + 1);
  block.Assign(values, block.size() + 1);
  blocks().Changed(k, 1);
}

void IntRing::Split(size_t block) {
  constexpr size_t kHalf = IntBlock::kMaxEntries / 2;
  int64_t values[IntBlock::kMaxEntries];
  const size_t count = blocks()[block].size();
  blocks()[block].Read(0, count, values);
  blocks()[block].Assign(values, kHalf);
  IntBlock tail;
  tail.Assign(values + kHalf, count - kHalf);
  blocks().InsertSplit(block, std::move(tail));
}

void IntRing::Erase(size_t i) {
  Check(i < size(), "an index lies inside the ring");
  if (!blocked()) {
    return EditSmall([&](int64_t* values, size_t size) {
      std::copy(values + i + 1, values + size, values + i);
      return size - 1;
    });
  }
  if (i == 0) return DropFront(1);
  if (i + 1 == size()) return DropBack(1);
  const auto [k, offset] = blocks().Locate(i);
  IntBlock& block = blocks()[k];
  int64_t values[IntBlock::kMaxEntries];
  const size_t left = block.size() - 1;
  block.Read(0, offset, values);
  block.Read(offset + 1, left + 1, values + offset);
  block.Assign(values, left);
  const bool emptied = left == 0;
  blocks().Changed(k, -1);
  if (!emptied) MergeAround(k);
  Settle();
}

// Merges two neighbours that together fill at most half a block, so that erasing inside cannot
// leave a ring of many nearly empty blocks.
void IntRing::MergeAround(size_t block) {
  for (const size_t k : {block, block - 1}) {
    if (k >= blocks().span_count() || k + 1 >= blocks().span_count()) continue;
    if (!Join(k, k + 1)) continue;
    blocks().EraseMerged(k);
    return;
  }
}

bool IntRing::Join(size_t k, size_t next) {
  const size_t first = blocks()[k].size();
  const size_t second = blocks()[next].size();
  if (first + second > IntBlock::kMaxEntries / 2) return false;
  int64_t values[IntBlock::kMaxEntries];
  blocks()[k].Read(0, first, values);
  blocks()[next].Read(0, second, values + first);
  blocks()[k].Assign(values, first + second);
  return true;
}

size_t IntRing::RemoveEqual(int64_t value, size_t most, bool from_back) {
  size_t removed = 0;
  if (!blocked()) {
    EditSmall([&](int64_t* values, size_t size) {
      const auto equal = static_cast<size_t>(std::count(values, values + size, value));
      removed = std::min(equal, most);
      return tally::RemoveEqual(values, size, value, from_back ? equal - removed : 0, removed);
    });
    return removed;
  }
  Blocks& all = blocks();
  for (size_t i = 0; i < all.span_count() && removed < most; ++i) {
    IntBlock& block = all[from_back ? all.span_count() - 1 - i : i];
    const size_t equal = block.CountEqual(value);
    if (equal == 0) continue;
    const size_t part = std::min(equal, most - removed);
    block.RemoveEqual(value, from_back ? equal - part : 0, part);
    removed += part;
  }
  if (removed == 0) return 0;
  all.Tidy([&](size_t k, size_t next) { return Join(k, next); }, [](size_t) {});
  Settle();
  return removed;
}

size_t IntRing::LowerBound(int64_t value) const {
  size_t low = 0;
  size_t high = size();
  size_t first = 0;
  if (blocked()) {
    const Blocks& all = blocks();
    const IntBlock* block = std::partition_point(
        all.begin(), all.end(), [&](const IntBlock& b) { return b.At(b.size() - 1) < value; });
    if (block == all.end()) return size();
    first = static_cast<size_t>(block->start - all.front().start);
    high = block->size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      block->At(middle) < value ? low = middle + 1 : high = middle;
    }
    return first + low;
  }
  while (low < high && int_run::At(run(), low) < value) ++low;
  return low;
}

size_t IntRing::MemoryBytes() const {
  if (blocked()) return HeapBytes(sizeof(Blocks)) + blocks().HeapUse();
  return empty() ? 0 : int_run::HeapUse(run());
}

}  // namespace tally
