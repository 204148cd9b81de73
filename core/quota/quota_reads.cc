// What a QuotaBook answers about several users, or about one user's limits.
#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "core/quota/quota_book.h"

namespace tally {

bool QuotaBook::HasTooManyLimits(std::span<const QuotaId> skus) const {
  if (!MayHaveTooManyLimits(skus.size())) return false;
  size_t limits = 0;
  for (const QuotaId& sku : skus) {
    const EntityKey key(Find(sku));
    if (const SkuParts* parts = FindParts(key.view())) {
      limits += parts->limits;
      continue;
    }
    const RecordTable::Record record = limits_.Find(key.view());
    if (!record) continue;
    LimitEntry entry;
    for (PackedInput in(record.payload()); !in.empty(); ++limits) {
      if (!ReadLimitEntry(in, entry)) break;
    }
    if (limits > kMaxQuotaAnswer) break;
  }
  return limits > kMaxQuotaAnswer;
}

bool QuotaBook::HasTooManyLimits(std::span<const QuotaItem> items) const {
  if (!MayHaveTooManyLimits(items.size())) return false;
  std::vector<QuotaId> skus;
  for (const QuotaItem& item : items) skus.push_back(item.sku);
  return HasTooManyLimits(skus);
}

bool QuotaBook::HasTooManyLimits(std::span<const QuotaLimitSpec> specs) const {
  if (!MayHaveTooManyLimits(specs.size())) return false;
  std::vector<QuotaId> skus;
  for (const QuotaLimitSpec& spec : specs) skus.push_back(spec.sku);
  std::sort(skus.begin(), skus.end());
  skus.erase(std::unique(skus.begin(), skus.end()), skus.end());
  return HasTooManyLimits(skus);
}

bool QuotaBook::HasTooManyPurchases(std::span<const QuotaId> users) const {
  if (large_ == nullptr) return false;
  absl::flat_hash_map<QuotaId, size_t> large;
  for (const QuotaId& user : users) {
    const LargeUser* found = FindLarge(EntityKey(user).view());
    if (found != nullptr) large[user] = found->lines;
  }
  size_t lines = 0;
  for (const auto& [user, count] : large) lines += count;
  return large.size() > 1 && lines > kMaxQuotaAnswer;
}

// A SKU's limits are decoded once, whoever has bought it, and a user that is named often is counted
// once.
bool QuotaBook::LeftAll(std::span<const QuotaId> users, const QuotaActions& actions, int64_t now_ms,
                        QuotaUserLefts& left) const {
  left.lefts.Clear();
  left.users.clear();
  const bool is_bounded = users.size() > 1;
  if (is_bounded && HasTooManyPurchases(users)) return false;
  absl::flat_hash_map<QuotaId, size_t> places;  // in the next two
  std::vector<QuotaId> distinct;
  std::vector<Ids> bought;
  Ids all;
  for (const QuotaId& user : users) {
    if (!places.try_emplace(user, distinct.size()).second) continue;
    distinct.push_back(user);
    Ids& skus = bought.emplace_back();
    ForEachKept(EntityKey(user).view(), now_ms, [&](const PurchaseLine& line) {
      if (line.qty > 0) skus.push_back(line.sku);
    });
    LeaveDistinct(skus);
    all.insert(all.end(), skus.begin(), skus.end());
  }
  LeaveDistinct(all);

  LeftCounters counters(now_ms);
  const BookActions listed = Find(actions);
  size_t visited = 0;
  for (const BookId sku : all) {
    const LimitBlocks blocks = BlocksOf(sku);
    if (blocks.empty()) continue;
    visited += counters.AddSku(sku, blocks, listed);
    if (is_bounded && visited > kMaxQuotaAnswer) return false;
  }
  size_t answered = 0;
  for (const QuotaId& user : users) {
    for (const BookId sku : bought[places[user]]) answered += counters.LimitsOf(sku);
    if (is_bounded && answered > kMaxQuotaAnswer) return false;
  }

  std::vector<QuotaUserLefts::Skus> ranges;
  for (size_t i = 0; i < distinct.size(); ++i) {
    Ids& skus = bought[i];
    const auto has_none = [&](const BookId& sku) { return counters.LimitsOf(sku) == 0; };
    skus.erase(std::remove_if(skus.begin(), skus.end(), has_none), skus.end());
    ranges.push_back({left.lefts.size(), left.lefts.size() + skus.size()});
    if (skus.empty()) continue;
    for (const BookId sku : skus) counters.Restart(sku);
    ForEachKept(EntityKey(distinct[i]).view(), now_ms,
                [&](const PurchaseLine& line) { counters.Count(line); });
    SortByName(skus);
    for (const BookId sku : skus) counters.AppendLeft(sku, NameOf(sku), texts_.get(), left.lefts);
  }
  for (const QuotaId& user : users) left.users.push_back(ranges[places[user]]);
  return true;
}

void QuotaBook::CountUses(const QuotaId& user, std::span<const QuotaId> skus, int64_t now_ms,
                          LeftCounters& counters) const {
  Ids wanted(skus.size());
  for (size_t i = 0; i < skus.size(); ++i) wanted[i] = Find(skus[i]);
  LeaveDistinct(wanted);
  AddSkus(wanted, Approach(user, wanted), BookActions(), counters);
  const EntityKey key(user);
  if (LargeUser* large = FindLarge(key.view())) {
    CountLarge(key.view(), *large, now_ms, counters);
    NoteTimesOfLarge(key.view(), *large, now_ms, counters);
    return;
  }
  ForEachKept(key.view(), now_ms, [&](const PurchaseLine& line) {
    counters.Count(line);
    counters.NoteTime(line);
  });
}

}  // namespace tally
