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

LimitBlocks QuotaBook::BlocksOf(const EntityKey& key, uint64_t hash) const {
  LimitBlocks blocks;
  if (const RecordTable::Record record = limits_.Find(key.view(), hash)) {
    blocks.push_back(record.payload());
  } else if (const SkuParts* parts = FindParts(key.view())) {
    for (const BookId first : parts->firsts) {
      blocks.push_back(parted_->parts.Find(PartedSkus::PartKey(key.view(), first)).payload());
    }
  }
  return blocks;
}

std::vector<LimitEntry> QuotaBook::ReadPart(BookId sku, BookId first) const {
  return Decode(parted_->parts.Find(PartedSkus::PartKey(EntityKey(sku).view(), first)));
}

QuotaBook::OpenLimits QuotaBook::Open(BookId sku, BookId action) const {
  const EntityKey key(sku);
  const SkuParts* parts = FindParts(key.view());
  if (parts == nullptr) return {sku, std::nullopt, Decode(limits_.Find(key.view()))};
  const BookId first = parts->PartOf(action);
  return {sku, first, ReadPart(sku, first)};
}

void QuotaBook::Store(const OpenLimits& limits) {
  TextUses uses;
  if (limits.part) {
    StorePart(limits, uses);
  } else {
    const EntityKey key(limits.sku);
    const bool is_whole = limits.entries.size() <= SkuParts::kManyLimits;
    if (texts_ != nullptr) uses.Add(limits.sku, Decode(limits_.Find(key.view())), -1);
    if (is_whole) {
      uses.Add(limits.sku, limits.entries, 1);
      most_limits_ = std::max(most_limits_, limits.entries.size());
      PutInto(limits_, key.view(), limits.entries);
    } else {
      PutInto(limits_, key.view(), {});
      PutParts(limits.sku, limits.entries, SkuParts::kPartLimits, uses);
    }
  }
  ChangeUses(uses);
}

// Puts the entries into the key's record, which is erased if there are none.
void QuotaBook::PutInto(RecordTable& table, std::string_view key,
                        std::span<const LimitEntry> entries) {
  const uint64_t hash = table.Hash(key);
  BeforeChange(table, hash, key);
  const RecordTable::Record old = table.Find(key, hash);
  if (entries.empty()) {
    if (old) table.Erase(old);
    return;
  }
  std::string block;
  EncodeLimits(entries, block);
  const RecordTable::Record record = Replace(table, old, key, hash, block.size());
  std::memcpy(record.data(), block.data(), block.size());
  int64_t& due = record.segment().due;
  for (const LimitEntry& entry : entries) {
    if (entry.deletion) due = std::min(due, entry.deletion->until_ms);
  }
}

void QuotaBook::PutParts(BookId sku, std::span<const LimitEntry> entries, size_t most_in_one,
                         TextUses& uses) {
  const EntityKey key(sku);
  if (parted_ == nullptr) parted_ = std::make_unique<PartedSkus>(seed_);
  while (!entries.empty()) {
    const auto part = entries.first(std::min(most_in_one, entries.size()));
    entries = entries.subspan(part.size());
    SkuParts& parts = parted_->Add(key.view());
    parts.firsts.insert(part.front().action);
    parts.limits += part.size();
    most_limits_ = std::max(most_limits_, parts.limits);
    uses.Add(sku, part, 1);
    PutInto(parted_->parts, PartedSkus::PartKey(key.view(), part.front().action), part);
  }
}

void QuotaBook::ErasePart(BookId sku, BookId first, TextUses& uses) {
  const EntityKey key(sku);
  const std::vector<LimitEntry> entries = ReadPart(sku, first);
  uses.Add(sku, entries, -1);
  SkuParts& parts = *FindParts(key.view());
  parts.firsts.erase(first);
  parts.limits -= entries.size();
  PutInto(parted_->parts, PartedSkus::PartKey(key.view(), first), {});
  if (parts.firsts.empty()) parted_->Remove(key.view());
}

void QuotaBook::StorePart(const OpenLimits& limits, TextUses& uses) {
  const BookId sku = limits.sku;
  const EntityKey key(sku);
  std::vector<LimitEntry> entries = limits.entries;
  const std::optional<BookId> next = FindParts(key.view())->After(*limits.part);
  ErasePart(sku, *limits.part, uses);
  if (next && entries.size() < SkuParts::kSmallPart) {
    const std::vector<LimitEntry> others = ReadPart(sku, *next);
    if (entries.size() + others.size() <= SkuParts::kPartLimits) {
      entries.insert(entries.end(), others.begin(), others.end());
      ErasePart(sku, *next, uses);
    }
  }
  const bool is_full = entries.size() > SkuParts::kFullPart;
  PutParts(sku, entries, is_full ? SkuParts::kPartLimits : SkuParts::kFullPart, uses);
  const SkuParts* parts = FindParts(key.view());
  if (parts == nullptr || parts->firsts.size() > 1 || parts->limits > SkuParts::kFewLimits) return;
  const BookId first = *parts->firsts.begin();
  entries = ReadPart(sku, first);
  ErasePart(sku, first, uses);
  uses.Add(sku, entries, 1);
  PutInto(limits_, key.view(), entries);
}

void QuotaBook::SetLimitsOfSku(std::span<const QuotaLimitSpec> limits, int64_t now_ms) {
  const BookId sku = FindOrAdd(limits.front().sku);
  while (!limits.empty()) {
    // All that go to the same part are stored at once.
    OpenLimits open = Open(sku, FindOrAdd(limits.front().action));
    const SkuParts* parts = FindParts(EntityKey(sku).view());
    do {
      SetLimit(EntryOf(open.entries, FindOrAdd(limits.front().action)), limits.front(), now_ms);
      limits = limits.subspan(1);
    } while (!limits.empty() && open.entries.size() <= SkuParts::kManyLimits &&
             (parts == nullptr || parts->PartOf(FindOrAdd(limits.front().action)) == *open.part));
    Store(open);
  }
}

void QuotaBook::SetLimit(LimitEntry& entry, const QuotaLimitSpec& spec, int64_t now_ms) {
  Check(spec.limit >= 0 && spec.window_ms > 0, "a limit has a window and is not negative");
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
  for (const std::string_view block : BlocksOf(sku)) {
    LimitEntry entry;
    for (PackedInput in(block); !in.empty();) {
      if (!ReadLimitEntry(in, entry)) break;
      if (!entry.is_set || !actions.Contains(entry.action)) continue;
      out.push_back({NameOf(entry.action), entry.limit, entry.window_ms, entry.set_at_ms});
    }
  }
  std::sort(out.begin() + static_cast<ptrdiff_t>(begin), out.end(),
            [](const QuotaLimit& a, const QuotaLimit& b) { return a.action < b.action; });
}

size_t QuotaBook::DelLimitsOf(BookId sku, const BookActions& actions, int64_t now_ms) {
  const SkuParts* parts = FindParts(EntityKey(sku).view());
  if (parts == nullptr) return DelLimitsIn(Open(sku, kNoAction), actions, now_ms);
  // Parts may be merged meanwhile, so each is looked for by an action that is in it.
  std::vector<BookId> places = actions.listed();
  if (actions.all()) places.assign(parts->firsts.begin(), parts->firsts.end());
  size_t deleted = 0;
  for (const BookId place : places) deleted += DelLimitsIn(Open(sku, place), actions, now_ms);
  return deleted;
}

size_t QuotaBook::DelLimitsIn(OpenLimits limits, const BookActions& actions, int64_t now_ms) {
  std::vector<LimitEntry>& entries = limits.entries;
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
  Store(limits);
  return deleted;
}

size_t QuotaBook::DelLimits(std::span<const QuotaId> skus, const QuotaActions& actions,
                            int64_t now_ms) {
  const BookActions listed = Find(actions);
  size_t deleted = 0;
  for (const QuotaId& sku : skus) deleted += DelLimitsOf(Find(sku), listed, now_ms);
  return deleted;
}

std::vector<QuotaBook::Deletion> QuotaBook::DeletionsOf(BookId sku) const {
  std::vector<Deletion> deletions;
  for (const std::string_view block : BlocksOf(sku)) {
    LimitEntry entry;
    for (PackedInput in(block); !in.empty();) {
      if (!ReadLimitEntry(in, entry)) break;
      if (entry.deletion) deletions.push_back({entry.action, entry.deletion->deleted_ms});
    }
  }
  return deletions;
}

bool QuotaBook::ExpireDeletions(OpenLimits limits, int64_t horizon_ms) {
  bool changed = false;
  for (LimitEntry& entry : limits.entries) {
    if (!HasVoidDeletion(entry, horizon_ms)) continue;
    entry.deletion.reset();
    changed = true;
  }
  if (!changed) return false;
  std::erase_if(limits.entries,
                [](const LimitEntry& entry) { return !entry.is_set && !entry.deletion; });
  Store(limits);
  return true;
}

bool QuotaBook::ExpireLimits(const QuotaId& sku_id, int64_t now_ms) {
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  const BookId sku = Find(sku_id);
  const SkuParts* parts = FindParts(EntityKey(sku).view());
  if (parts == nullptr) return ExpireDeletions(Open(sku, kNoAction), horizon_ms);
  // Parts may be merged meanwhile, so each is looked for by an action that is in it.
  const std::vector<BookId> places(parts->firsts.begin(), parts->firsts.end());
  bool changed = false;
  for (const BookId place : places) changed |= ExpireDeletions(Open(sku, place), horizon_ms);
  return changed;
}

void QuotaBook::SweepLimits(RecordTable::Segment& segment, bool of_parts, int64_t now_ms,
                            QuotaExpired* expired) {
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  Ids due;  // SKUs
  segment.due = RecordTable::Segment::kNothingDue;
  limits_.ForEach(segment, [&](const RecordTable::Record& record) {
    for (const LimitEntry& entry : Decode(record)) {
      if (HasVoidDeletion(entry, horizon_ms)) {
        const std::string_view key = of_parts ? PartedSkus::SkuOf(record.key()) : record.key();
        due.push_back(EntityKey::SkuOf(key));
        return;
      }
      if (entry.deletion) segment.due = std::min(segment.due, entry.deletion->until_ms);
    }
  });
  LeaveDistinct(due);
  for (const BookId due_sku : due) {
    // A text may be forgotten with its last limit.
    const std::string text = TextOf(NameOf(due_sku));
    if (ExpireLimits(NameOf(due_sku), now_ms) && expired != nullptr) expired->skus.push_back(text);
  }
}

}  // namespace tally
