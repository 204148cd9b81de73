#include "core/quota/book_limits.h"

#include <algorithm>

#include "core/base/check.h"

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

LimitBlocks BookLimits::BlocksOf(const EntityKey& key, uint64_t hash) const {
  LimitBlocks blocks;
  if (const RecordTable::Record record = book_.limits.Find(key.view(), hash)) {
    blocks.push_back(record.payload());
  } else if (const SkuParts* parts = book_.FindParts(key.view())) {
    for (const BookId first : parts->firsts) {
      blocks.push_back(book_.parted->parts.Find(PartedSkus::PartKey(key.view(), first)).payload());
    }
  }
  return blocks;
}

std::vector<LimitEntry> BookLimits::ReadPart(BookId sku, BookId first) const {
  return Decode(book_.parted->parts.Find(PartedSkus::PartKey(EntityKey(sku).view(), first)));
}

BookLimits::OpenLimits BookLimits::Open(BookId sku, BookId action) const {
  const EntityKey key(sku);
  const SkuParts* parts = book_.FindParts(key.view());
  if (parts == nullptr) return {sku, std::nullopt, Decode(book_.limits.Find(key.view()))};
  const BookId first = parts->PartOf(action);
  return {sku, first, ReadPart(sku, first)};
}

void BookLimits::Store(const OpenLimits& limits) {
  TextUses uses;
  if (limits.part) {
    StorePart(limits, uses);
  } else {
    const EntityKey key(limits.sku);
    const bool is_whole = limits.entries.size() <= SkuParts::kManyLimits;
    if (book_.texts != nullptr) uses.Add(limits.sku, Decode(book_.limits.Find(key.view())), -1);
    if (is_whole) {
      uses.Add(limits.sku, limits.entries, 1);
      book_.most_limits = std::max(book_.most_limits, limits.entries.size());
      PutInto(book_.limits, key.view(), limits.entries);
    } else {
      PutInto(book_.limits, key.view(), {});
      PutParts(limits.sku, limits.entries, SkuParts::kPartLimits, uses);
    }
  }
  book_.ChangeUses(uses);
}

// Puts the entries into the key's record, which is erased if there are none.
void BookLimits::PutInto(RecordTable& table, std::string_view key,
                         std::span<const LimitEntry> entries) {
  if (entries.empty()) return book_.Erase(table, key);
  std::string block;
  EncodeLimits(entries, block);
  const uint64_t hash = table.Hash(key);
  const RecordTable::Record record = book_.Put(table, table.Find(key, hash), key, hash, block);
  int64_t& due_ms = record.segment().due_ms;
  for (const LimitEntry& entry : entries) {
    if (entry.deletion) due_ms = std::min(due_ms, entry.deletion->until_ms);
  }
}

void BookLimits::PutParts(BookId sku, std::span<const LimitEntry> entries, size_t most_in_one,
                          TextUses& uses) {
  const EntityKey key(sku);
  PartedSkus& parted = book_.OpenParts();
  while (!entries.empty()) {
    const auto part = entries.first(std::min(most_in_one, entries.size()));
    entries = entries.subspan(part.size());
    SkuParts& parts = parted.Add(key.view());
    parts.firsts.insert(part.front().action);
    parts.limits += part.size();
    book_.most_limits = std::max(book_.most_limits, parts.limits);
    uses.Add(sku, part, 1);
    PutInto(parted.parts, PartedSkus::PartKey(key.view(), part.front().action), part);
  }
}

bool BookLimits::AddPart(BookId sku, std::span<const LimitEntry> entries) {
  const BookId first = entries.front().action;
  if (const SkuParts* parts = book_.FindParts(EntityKey(sku).view())) {
    const BookId before = parts->PartOf(first);
    if (before <= first && ReadPart(sku, before).back().action >= first) return false;
    const std::optional<BookId> next = parts->After(first);
    if (next && *next <= entries.back().action) return false;
  }
  TextUses uses;
  PutParts(sku, entries, entries.size(), uses);
  return true;
}

void BookLimits::ErasePart(BookId sku, BookId first, TextUses& uses) {
  const EntityKey key(sku);
  const std::vector<LimitEntry> entries = ReadPart(sku, first);
  uses.Add(sku, entries, -1);
  SkuParts& parts = *book_.FindParts(key.view());
  parts.firsts.erase(first);
  parts.limits -= entries.size();
  PutInto(book_.parted->parts, PartedSkus::PartKey(key.view(), first), {});
  if (parts.firsts.empty()) book_.parted->Remove(key.view());
}

void BookLimits::StorePart(const OpenLimits& limits, TextUses& uses) {
  const BookId sku = limits.sku;
  const EntityKey key(sku);
  std::vector<LimitEntry> entries = limits.entries;
  const std::optional<BookId> next = book_.FindParts(key.view())->After(*limits.part);
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
  const SkuParts* parts = book_.FindParts(key.view());
  if (parts == nullptr || parts->firsts.size() > 1 || parts->limits > SkuParts::kFewLimits) return;
  const BookId first = *parts->firsts.begin();
  entries = ReadPart(sku, first);
  ErasePart(sku, first, uses);
  uses.Add(sku, entries, 1);
  PutInto(book_.limits, key.view(), entries);
}

void BookLimits::SetOfSku(std::span<const QuotaLimitSpec> limits, int64_t now_ms) {
  const BookId sku = book_.FindOrAdd(limits.front().sku);
  while (!limits.empty()) {
    // All that go to the same part are stored at once.
    OpenLimits open = Open(sku, book_.FindOrAdd(limits.front().action));
    const SkuParts* parts = book_.FindParts(EntityKey(sku).view());
    do {
      SetOne(EntryOf(open.entries, book_.FindOrAdd(limits.front().action)), limits.front(), now_ms);
      limits = limits.subspan(1);
    } while (
        !limits.empty() && open.entries.size() <= SkuParts::kManyLimits &&
        (parts == nullptr || parts->PartOf(book_.FindOrAdd(limits.front().action)) == *open.part));
    Store(open);
  }
}

void BookLimits::SetOne(LimitEntry& entry, const QuotaLimitSpec& spec, int64_t now_ms) {
  Check(spec.limit >= 0 && spec.window_ms > 0, "a limit has a window and is not negative");
  if (entry.is_set) {
    book_.retention.Remove(entry.window_ms);
  } else {
    ++book_.limit_count;
  }
  entry.is_set = true;
  entry.limit = spec.limit;
  entry.window_ms = spec.window_ms;
  entry.set_at_ms = now_ms;
  book_.retention.Add(entry.window_ms);
}

void BookLimits::Set(std::span<const QuotaLimitSpec> specs, int64_t now_ms) {
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
    SetOfSku(limits.first(same), now_ms);
    limits = limits.subspan(same);
  }
}

void BookLimits::AppendTo(std::vector<QuotaLimit>& out, BookId sku,
                          const BookActions& actions) const {
  const size_t begin = out.size();
  for (const std::string_view block : BlocksOf(sku)) {
    LimitEntry entry;
    for (PackedInput in(block); !in.empty();) {
      if (!ReadLimitEntry(in, entry)) break;
      if (!entry.is_set || !actions.Contains(entry.action)) continue;
      out.push_back({book_.NameOf(entry.action), entry.limit, entry.window_ms, entry.set_at_ms});
    }
  }
  std::sort(out.begin() + static_cast<ptrdiff_t>(begin), out.end(),
            [](const QuotaLimit& a, const QuotaLimit& b) { return a.action < b.action; });
}

size_t BookLimits::DeleteOf(BookId sku, const BookActions& actions, int64_t now_ms) {
  const SkuParts* parts = book_.FindParts(EntityKey(sku).view());
  if (parts == nullptr) return DeleteIn(Open(sku, kNoAction), actions, now_ms);
  // Parts may be merged meanwhile, so each is looked for by an action that is in it.
  std::vector<BookId> places = actions.listed();
  if (actions.all()) places.assign(parts->firsts.begin(), parts->firsts.end());
  size_t deleted = 0;
  for (const BookId place : places) deleted += DeleteIn(Open(sku, place), actions, now_ms);
  return deleted;
}

size_t BookLimits::DeleteIn(OpenLimits limits, const BookActions& actions, int64_t now_ms) {
  std::vector<LimitEntry>& entries = limits.entries;
  size_t deleted = 0;
  for (LimitEntry& entry : entries) {
    if (!entry.is_set || !actions.Contains(entry.action)) continue;
    book_.retention.Remove(entry.window_ms);
    const BookId action = entry.action;
    entry = LimitEntry{};
    entry.action = action;
    // Without purchases there is nothing to exclude.
    if (book_.HasPurchases()) {
      const int64_t mark_ms = book_.recording.Mark(now_ms);
      entry.deletion = {mark_ms, std::max(mark_ms, book_.recording.latest_future_ms)};
    }
    ++deleted;
  }
  if (deleted == 0) return 0;
  std::erase_if(entries, [](const LimitEntry& entry) { return !entry.is_set && !entry.deletion; });
  book_.limit_count -= deleted;
  Store(limits);
  return deleted;
}

size_t BookLimits::Delete(std::span<const QuotaId> skus, const QuotaActions& actions,
                          int64_t now_ms) {
  const BookActions listed = book_.Find(actions);
  size_t deleted = 0;
  for (const QuotaId& sku : skus) deleted += DeleteOf(book_.Find(sku), listed, now_ms);
  return deleted;
}

std::vector<BookLimits::Deletion> BookLimits::DeletionsOf(BookId sku) const {
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

bool BookLimits::ExpireDeletions(OpenLimits limits, int64_t horizon_ms) {
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

bool BookLimits::Expire(const QuotaId& sku_id, int64_t now_ms) {
  const int64_t horizon_ms = book_.retention.Horizon(now_ms);
  const BookId sku = book_.Find(sku_id);
  const SkuParts* parts = book_.FindParts(EntityKey(sku).view());
  if (parts == nullptr) return ExpireDeletions(Open(sku, kNoAction), horizon_ms);
  // Parts may be merged meanwhile, so each is looked for by an action that is in it.
  const std::vector<BookId> places(parts->firsts.begin(), parts->firsts.end());
  bool changed = false;
  for (const BookId place : places) changed |= ExpireDeletions(Open(sku, place), horizon_ms);
  return changed;
}

void BookLimits::Sweep(RecordTable::Segment& segment, bool of_parts, int64_t now_ms,
                       QuotaExpired* expired) {
  const int64_t horizon_ms = book_.retention.Horizon(now_ms);
  BookIds due;  // SKUs
  segment.due_ms = RecordTable::Segment::kNothingDue;
  book_.limits.ForEach(segment, [&](const RecordTable::Record& record) {
    for (const LimitEntry& entry : Decode(record)) {
      if (HasVoidDeletion(entry, horizon_ms)) {
        const std::string_view key = of_parts ? PartedSkus::SkuOf(record.key()) : record.key();
        due.push_back(EntityKey::SkuOf(key));
        return;
      }
      if (entry.deletion) segment.due_ms = std::min(segment.due_ms, entry.deletion->until_ms);
    }
  });
  LeaveDistinct(due);
  for (const BookId due_sku : due) {
    // A text may be forgotten with its last limit.
    const std::string text = TextOf(book_.NameOf(due_sku));
    if (Expire(book_.NameOf(due_sku), now_ms) && expired != nullptr) expired->skus.push_back(text);
  }
}

bool BookLimits::HasTooMany(std::span<const QuotaId> skus) const {
  if (!MayHaveTooMany(skus.size())) return false;
  size_t limits = 0;
  for (const QuotaId& sku : skus) {
    const EntityKey key(book_.Find(sku));
    if (const SkuParts* parts = book_.FindParts(key.view())) {
      limits += parts->limits;
      continue;
    }
    const RecordTable::Record record = book_.limits.Find(key.view());
    if (!record) continue;
    LimitEntry entry;
    for (PackedInput in(record.payload()); !in.empty(); ++limits) {
      if (!ReadLimitEntry(in, entry)) break;
    }
    if (limits > kMaxQuotaAnswer) break;
  }
  return limits > kMaxQuotaAnswer;
}

bool BookLimits::HasTooMany(std::span<const QuotaItem> items) const {
  if (!MayHaveTooMany(items.size())) return false;
  std::vector<QuotaId> skus;
  for (const QuotaItem& item : items) skus.push_back(item.sku);
  return HasTooMany(skus);
}

bool BookLimits::HasTooMany(std::span<const QuotaLimitSpec> specs) const {
  if (!MayHaveTooMany(specs.size())) return false;
  std::vector<QuotaId> skus;
  for (const QuotaLimitSpec& spec : specs) skus.push_back(spec.sku);
  std::sort(skus.begin(), skus.end());
  skus.erase(std::unique(skus.begin(), skus.end()), skus.end());
  return HasTooMany(skus);
}

}  // namespace tally
