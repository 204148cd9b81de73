#include "core/quota/quantity_sums.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.h"
#include "core/quota/packed_integer.h"

namespace tally {
namespace {

constexpr size_t kMostEntries = 64;
constexpr size_t kMostLeaves = 256;
// How full Assign() makes them.
constexpr size_t kPackedEntries = 48;
constexpr size_t kPackedLeaves = 192;
constexpr int64_t kEarliest = std::numeric_limits<int64_t>::min();
constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();

// Flags of the first entry of a SKU and action in a leaf.
constexpr uint8_t kTextSku = 1;
constexpr uint8_t kTextAction = 2;

// Where to split `size` things after one was added at `grown_at`.
size_t SplitPoint(size_t grown_at, size_t size) {
  if (grown_at + 1 == size) return grown_at;
  return std::clamp(grown_at + 1, size / 4, size - size / 4);
}

}  // namespace

std::vector<QuantitySums::Entry> QuantitySums::Unpack(const Leaf& leaf) {
  std::vector<Entry> entries;
  entries.reserve(kMostEntries + 1);
  Entry entry{{leaf.first.sku, leaf.first.action, 0}, 0};
  for (PackedInput in(leaf.bytes); !in.empty();) {
    const uint64_t head = in.Varint();
    entry.qty = static_cast<int64_t>(head >> 1);
    if (head & 1) {
      const uint8_t flags = in.Byte();
      entry.key.sku.value = WrappingAdd(entry.key.sku.value, ZigZagDecode(in.Varint()));
      entry.key.sku.is_text = flags & kTextSku;
      entry.key.action = BookId(ZigZagDecode(in.Varint()), flags & kTextAction);
      entry.key.ts_ms = WrappingAdd(kTimeBaseMs, ZigZagDecode(in.Varint()));
    } else {
      entry.key.ts_ms = WrappingAdd(entry.key.ts_ms, static_cast<int64_t>(in.Varint()));
    }
    entries.push_back(entry);
  }
  return entries;
}

QuantitySums::Leaf QuantitySums::Pack(const Entry* begin, const Entry* end) {
  Leaf leaf;
  leaf.first = begin->key;
  std::string bytes;
  Key previous = leaf.first;
  for (const Entry* entry = begin; entry != end; ++entry) {
    const Key& key = entry->key;
    leaf.sum += entry->qty;
    const bool same = entry != begin && key.sku == previous.sku && key.action == previous.action;
    AppendVarint(bytes, static_cast<uint64_t>(entry->qty) << 1 | (same ? 0 : 1));
    if (same) {
      AppendVarint(bytes, static_cast<uint64_t>(WrappingSub(key.ts_ms, previous.ts_ms)));
    } else {
      bytes.push_back(static_cast<char>((key.sku.is_text ? kTextSku : 0) |
                                        (key.action.is_text ? kTextAction : 0)));
      AppendSignedVarint(bytes, WrappingSub(key.sku.value, previous.sku.value));
      AppendSignedVarint(bytes, key.action.value);
      AppendSignedVarint(bytes, WrappingSub(key.ts_ms, kTimeBaseMs));
    }
    previous = key;
  }
  leaf.bytes = std::string(bytes);  // no larger than it must be
  return leaf;
}

QuantitySums::Position QuantitySums::Find(const Key& key) const {
  const auto branch = std::upper_bound(
      branches_.begin() + 1, branches_.end(), key,
      [](const Key& wanted, const Branch& one) { return wanted < one.leaves.front().first; });
  const auto& leaves = (branch - 1)->leaves;
  const auto leaf =
      std::upper_bound(leaves.begin() + 1, leaves.end(), key,
                       [](const Key& wanted, const Leaf& one) { return wanted < one.first; });
  return {static_cast<size_t>(branch - 1 - branches_.begin()),
          static_cast<size_t>(leaf - 1 - leaves.begin())};
}

void QuantitySums::Replace(Position position, const std::vector<Entry>& entries, size_t grown_at) {
  Branch& branch = branches_[position.branch];
  const auto put = [&](Leaf& into, Leaf leaf) {
    branch.sum += leaf.sum - into.sum;
    branch.bytes += leaf.bytes.capacity() - into.bytes.capacity();
    into = std::move(leaf);
  };
  const Entry* const begin = entries.data();
  const Entry* const end = begin + entries.size();
  if (entries.size() <= kMostEntries) return put(branch.leaves[position.leaf], Pack(begin, end));
  const Entry* const middle = begin + SplitPoint(grown_at, entries.size());
  put(branch.leaves[position.leaf], Pack(begin, middle));
  Leaf empty;
  branch.bytes += empty.bytes.capacity();
  const auto at = branch.leaves.begin() + static_cast<ptrdiff_t>(position.leaf) + 1;
  put(*branch.leaves.insert(at, std::move(empty)), Pack(middle, end));
  if (branch.leaves.size() > kMostLeaves) SplitBranch(position.branch, position.leaf + 1);
}

void QuantitySums::SplitBranch(size_t index, size_t grown_at) {
  Branch upper;
  Branch& lower = branches_[index];
  const size_t middle = SplitPoint(grown_at, lower.leaves.size());
  const auto begin = lower.leaves.begin() + static_cast<ptrdiff_t>(middle);
  upper.leaves.assign(std::make_move_iterator(begin), std::make_move_iterator(lower.leaves.end()));
  lower.leaves.erase(begin, lower.leaves.end());
  for (const Leaf& leaf : upper.leaves) {
    upper.sum += leaf.sum;
    upper.bytes += leaf.bytes.capacity();
  }
  lower.sum -= upper.sum;
  lower.bytes -= upper.bytes;
  branches_.insert(branches_.begin() + static_cast<ptrdiff_t>(index) + 1, std::move(upper));
}

void QuantitySums::RemoveLeaf(Position position) {
  Branch& branch = branches_[position.branch];
  const auto leaf = branch.leaves.begin() + static_cast<ptrdiff_t>(position.leaf);
  branch.sum -= leaf->sum;
  branch.bytes -= leaf->bytes.capacity();
  branch.leaves.erase(leaf);
  if (!branch.leaves.empty()) return;
  branches_.erase(branches_.begin() + static_cast<ptrdiff_t>(position.branch));
}

void QuantitySums::Assign(std::vector<Entry> entries) {
  std::erase_if(entries, [](const Entry& entry) { return entry.qty == 0; });
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  size_t size = 0;
  for (const Entry& entry : entries) {
    if (size > 0 && entries[size - 1].key == entry.key) {
      entries[size - 1].qty += entry.qty;
    } else {
      entries[size++] = entry;
    }
  }
  branches_.clear();
  for (size_t begin = 0; begin < size; begin += kPackedEntries) {
    if (branches_.empty() || branches_.back().leaves.size() >= kPackedLeaves) {
      branches_.emplace_back();
    }
    Branch& branch = branches_.back();
    const size_t end = std::min(begin + kPackedEntries, size);
    branch.leaves.push_back(Pack(entries.data() + begin, entries.data() + end));
    branch.sum += branch.leaves.back().sum;
    branch.bytes += branch.leaves.back().bytes.capacity();
  }
}

void QuantitySums::Add(const Key& key, int64_t qty) {
  Check(qty >= 0, "a quantity is not negative");
  if (qty == 0) return;
  if (branches_.empty()) branches_.emplace_back().leaves.emplace_back().first = key;
  const Position position = Find(key);
  std::vector<Entry> entries = Unpack(branches_[position.branch].leaves[position.leaf]);
  auto at = std::lower_bound(entries.begin(), entries.end(), key,
                             [](const Entry& entry, const Key& one) { return entry.key < one; });
  if (at != entries.end() && at->key == key) {
    at->qty += qty;
  } else {
    at = entries.insert(at, {key, qty});
  }
  Replace(position, entries, static_cast<size_t>(at - entries.begin()));
}

void QuantitySums::Subtract(const Key& key, int64_t qty) {
  if (qty == 0) return;
  Check(!branches_.empty(), "what is taken was added");
  const Position position = Find(key);
  std::vector<Entry> entries = Unpack(branches_[position.branch].leaves[position.leaf]);
  const auto at =
      std::lower_bound(entries.begin(), entries.end(), key,
                       [](const Entry& entry, const Key& one) { return entry.key < one; });
  Check(at != entries.end() && at->key == key && at->qty >= qty, "what is taken was added");
  at->qty -= qty;
  if (at->qty == 0) entries.erase(at);
  if (entries.empty()) return RemoveLeaf(position);
  Replace(position, entries, 0);
}

void QuantitySums::Reader::Open(const Key& key) {
  const std::vector<Branch>& branches = sums_.branches_;
  const Position position = sums_.Find(key);
  int64_t sum = 0;
  for (size_t i = 0; i < position.branch; ++i) sum += branches[i].sum;
  const std::vector<Leaf>& leaves = branches[position.branch].leaves;
  for (size_t i = 0; i < position.leaf; ++i) sum += leaves[i].sum;
  entries_ = Unpack(leaves[position.leaf]);
  before_ = sum;
  for (Entry& entry : entries_) entry.qty = sum += entry.qty;
  next_ = nullptr;
  if (position.leaf + 1 < leaves.size()) {
    next_ = &leaves[position.leaf + 1].first;
  } else if (position.branch + 1 < branches.size()) {
    next_ = &branches[position.branch + 1].leaves.front().first;
  }
}

int64_t QuantitySums::Reader::SumThrough(const Key& key) {
  const bool is_open =
      !entries_.empty() && entries_.front().key <= key && (next_ == nullptr || key < *next_);
  if (!is_open) Open(key);
  const auto after =
      std::upper_bound(entries_.begin(), entries_.end(), key,
                       [](const Key& wanted, const Entry& entry) { return wanted < entry.key; });
  return after == entries_.begin() ? before_ : (after - 1)->qty;
}

int64_t QuantitySums::Reader::SumAfter(BookId sku, BookId action, int64_t after_ms) {
  if (sums_.branches_.empty()) return 0;
  const int64_t before = SumThrough({sku, action, after_ms});
  return SumThrough({sku, action, kLatest}) - before;
}

int64_t QuantitySums::FirstAfter(BookId sku, BookId action, int64_t after_ms) const {
  if (branches_.empty() || after_ms == kLatest) return kLatest;
  const Key from{sku, action, after_ms + 1};
  Position position = Find(from);
  for (const Entry& entry : Unpack(branches_[position.branch].leaves[position.leaf])) {
    if (entry.key < from) continue;
    return entry.key.sku == sku && entry.key.action == action ? entry.key.ts_ms : kLatest;
  }
  // It may be the first entry of the next leaf.
  if (++position.leaf == branches_[position.branch].leaves.size())
    position = {position.branch + 1, 0};
  if (position.branch == branches_.size()) return kLatest;
  const Key& next = branches_[position.branch].leaves[position.leaf].first;
  return next.sku == sku && next.action == action ? next.ts_ms : kLatest;
}

void QuantitySums::Clear(BookId sku, BookId action) {
  const auto is_of = [&](const Key& key) { return key.sku == sku && key.action == action; };
  while (!branches_.empty()) {
    Position position = Find({sku, action, kEarliest});
    std::vector<Entry> entries = Unpack(branches_[position.branch].leaves[position.leaf]);
    const auto erase = [&] {
      return std::erase_if(entries, [&](const Entry& entry) { return is_of(entry.key); });
    };
    if (erase() == 0) {
      // The first entry may be that of the next leaf.
      if (++position.leaf == branches_[position.branch].leaves.size())
        position = {position.branch + 1, 0};
      if (position.branch == branches_.size()) return;
      entries = Unpack(branches_[position.branch].leaves[position.leaf]);
      if (erase() == 0) return;
    }
    if (entries.empty()) {
      RemoveLeaf(position);
    } else {
      Replace(position, entries, 0);
    }
  }
}

size_t QuantitySums::MemoryBytes() const {
  size_t bytes = branches_.capacity() * sizeof(Branch);
  for (const Branch& branch : branches_) {
    bytes += branch.leaves.capacity() * sizeof(Leaf) + branch.bytes;
  }
  return bytes;
}

}  // namespace tally
