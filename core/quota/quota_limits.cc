// The operations of QuotaBook on limits.
#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "core/quota/quota_book.h"

namespace tally {
namespace {

// Returns the entry of the action; inserts an empty one if there is none.
LimitEntry& EntryOf(std::vector<LimitEntry>& entries, BookId action) {
  auto at = std::lower_bound(
      entries.begin(), entries.end(), action,
      [](const LimitEntry& entry, BookId wanted) { return entry.action < wanted; });
  if (at == entries.end() || at->action != action) {
    at = entries.insert(at, LimitEntry{});
    at->action = action;
  }
  return *at;
}

std::vector<LimitEntry> Decode(const RecordTable::Record& record) {
  std::vector<LimitEntry> entries;
  if (record) Check(DecodeLimits(record.payload(), entries), "stored limits are well-formed");
  return entries;
}

}  // namespace

void QuotaBook::StoreLimits(BookId sku, const std::vector<LimitEntry>& entries) {
  const EntityKey key(sku);
  const uint64_t hash = limits_.Hash(key.view());
  BeforeChange(limits_, hash, key.view());
  const RecordTable::Record old = limits_.Find(key.view(), hash);
  if (texts_ != nullptr) {
    TextUses uses;
    uses.Add(sku, Decode(old), -1);
    uses.Add(sku, entries, 1);
    ChangeUses(uses);
  }
  most_limits_ = std::max(most_limits_, entries.size());
  if (entries.empty()) {
    if (old) limits_.Erase(old);
    return;
  }
  std::string block;
  EncodeLimits(entries, block);
  const RecordTable::Record record = Replace(limits_, old, key.view(), hash, block.size());
  std::memcpy(record.data(), block.data(), block.size());
  int64_t& due = record.segment().due;
  for (const LimitEntry& entry : entries) {
    if (entry.deletion) due = std::min(due, entry.deletion->until_ms);
  }
}

void QuotaBook::SetLimitsOfSku(std::span<const QuotaLimitSpec> limits, int64_t now_ms) {
  const BookId sku = FindOrAdd(limits.front().sku);
  std::vector<LimitEntry> entries = Decode(limits_.Find(EntityKey(sku).view()));
  for (const QuotaLimitSpec& spec : limits) {
    Check(spec.limit >= 0 && spec.window_ms > 0, "a limit has a window and is not negative");
    LimitEntry& entry = EntryOf(entries, FindOrAdd(spec.action));
    if (entry.is_set) {
      retention_.Remove(entry.window_ms);
    } else {
      ++limit_count_;
    }
    entry.is_set = true;
    entry.limit = spec.limit;
    entry.window_ms = spec.window_ms;
    entry.set_at_ms = now_ms;
    retention_.Add(entry.window_ms);
  }
  StoreLimits(sku, entries);
}

void QuotaBook::SetLimits(std::span<const QuotaLimitSpec> specs, int64_t now_ms) {
  const int64_t old_length_ms = retention_.length_ms();
  // Those of a SKU are together then, so that its block is read and stored once.
  std::vector<QuotaLimitSpec> sorted(specs.begin(), specs.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const QuotaLimitSpec& a, const QuotaLimitSpec& b) { return a.sku < b.sku; });
  std::span<const QuotaLimitSpec> limits = sorted;
  while (!limits.empty()) {
    const auto other = std::find_if(limits.begin(), limits.end(), [&](const QuotaLimitSpec& spec) {
      return spec.sku != limits.front().sku;
    });
    const auto same = static_cast<size_t>(other - limits.begin());
    SetLimitsOfSku(limits.first(same), now_ms);
    limits = limits.subspan(same);
  }
  SettleRetention(old_length_ms, now_ms);
}

void QuotaBook::AppendLimits(BookId sku, const BookActions& actions,
                             std::vector<QuotaLimit>& out) const {
  const size_t begin = out.size();
  for (const LimitEntry& entry : Decode(limits_.Find(EntityKey(sku).view()))) {
    if (!entry.is_set || !actions.Contains(entry.action)) continue;
    out.push_back({NameOf(entry.action), entry.limit, entry.window_ms, entry.set_at_ms});
  }
  std::sort(out.begin() + static_cast<ptrdiff_t>(begin), out.end(),
            [](const QuotaLimit& a, const QuotaLimit& b) { return a.action < b.action; });
}

size_t QuotaBook::DelLimitsOf(BookId sku, const BookActions& actions, int64_t now_ms) {
  std::vector<LimitEntry> entries = Decode(limits_.Find(EntityKey(sku).view()));
  size_t deleted = 0;
  for (LimitEntry& entry : entries) {
    if (!entry.is_set || !actions.Contains(entry.action)) continue;
    retention_.Remove(entry.window_ms);
    const BookId action = entry.action;
    entry = LimitEntry{};
    entry.action = action;
    // Without purchases there is nothing to exclude.
    if (HasPurchases()) {
      const int64_t mark_ms = recording_.Mark(now_ms);
      entry.deletion = {mark_ms, std::max(mark_ms, recording_.latest_future_ms)};
    }
    ++deleted;
  }
  if (deleted == 0) return 0;
  std::erase_if(entries, [](const LimitEntry& entry) { return !entry.is_set && !entry.deletion; });
  limit_count_ -= deleted;
  StoreLimits(sku, entries);
  return deleted;
}

size_t QuotaBook::DelLimits(std::span<const QuotaId> skus, const QuotaActions& actions,
                            int64_t now_ms) {
  const BookActions listed = Find(actions);
  size_t deleted = 0;
  for (const QuotaId& sku : skus) deleted += DelLimitsOf(Find(sku), listed, now_ms);
  return deleted;
}

void QuotaBook::SweepLimits(RecordTable::Segment& segment, int64_t horizon_ms) {
  const auto is_void = [&](const LimitEntry& entry) {
    return entry.deletion && (entry.deletion->until_ms <= horizon_ms || !HasPurchases());
  };
  std::vector<BookId> skus;
  segment.due = RecordTable::Segment::kNothingDue;
  limits_.ForEach(segment, [&](const RecordTable::Record& record) {
    const std::vector<LimitEntry> entries = Decode(record);
    if (std::any_of(entries.begin(), entries.end(), is_void)) {
      skus.push_back(EntityKey::SkuOf(record.key()));
      return;
    }
    for (const LimitEntry& entry : entries) {
      if (entry.deletion) segment.due = std::min(segment.due, entry.deletion->until_ms);
    }
  });
  for (const BookId sku : skus) {
    std::vector<LimitEntry> entries = Decode(limits_.Find(EntityKey(sku).view()));
    for (LimitEntry& entry : entries) {
      if (is_void(entry)) entry.deletion.reset();
    }
    std::erase_if(entries,
                  [](const LimitEntry& entry) { return !entry.is_set && !entry.deletion; });
    StoreLimits(sku, entries);
  }
}

}  // namespace tally
