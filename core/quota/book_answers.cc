#include "core/quota/book_answers.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/check.h"
#include "core/quota/book_limits.h"
#include "core/quota/book_users.h"
#include "core/quota/entity_key.h"
#include "core/quota/large_purchases.h"

namespace tally {

void BookAnswers::Fetch(std::span<const uint64_t> users, std::span<const uint64_t> skus) const {
  for (const uint64_t hash : users) book_.users.PrefetchSegment(hash);
  for (const uint64_t hash : skus) book_.limits.PrefetchSegment(hash);
  for (const uint64_t hash : users) book_.users.PrefetchIndex(hash);
  for (const uint64_t hash : skus) book_.limits.PrefetchIndex(hash);
  for (const uint64_t hash : users) book_.users.PrefetchRecord(hash);
  for (const uint64_t hash : skus) book_.limits.PrefetchRecord(hash);
}

BookAnswers::CallHashes BookAnswers::Approach(const QuotaId& user, const BookIds& skus,
                                              bool prefetched) const {
  CallHashes hashes;
  hashes.user = book_.users.Hash(EntityKey(user).view());
  for (const BookId sku : skus) hashes.skus.push_back(book_.limits.Hash(EntityKey(sku).view()));
  if (!prefetched) Fetch({&hashes.user, 1}, hashes.skus);
  return hashes;
}

void BookAnswers::Prefetch(std::span<const QuotaId> users, std::span<const QuotaId> skus) const {
  constexpr size_t kMost = RecordTable::kMaxPrefetch;
  using Hashes = std::array<uint64_t, kMost>;
  Check(users.size() <= kMost && skus.size() <= kMost, "few are fetched at a time");
  Hashes of_users;
  Hashes of_skus;
  for (size_t i = 0; i < users.size(); ++i)
    of_users[i] = book_.users.Hash(EntityKey(users[i]).view());
  for (size_t i = 0; i < skus.size(); ++i) {
    of_skus[i] = book_.limits.Hash(EntityKey(book_.Find(skus[i])).view());
  }
  Fetch({of_users.data(), users.size()}, {of_skus.data(), skus.size()});
}

void BookAnswers::AddSkus(const BookIds& skus, const CallHashes& hashes,
                          LeftCounters& counters) const {
  const BookLimits limits(book_);
  for (size_t i = 0; i < skus.size(); ++i) {
    if (counters.Knows(skus[i])) continue;
    counters.AddSku(skus[i], limits.BlocksOf(EntityKey(skus[i]), hashes.skus[i]), BookActions());
  }
}

void BookAnswers::Left(const QuotaId& user, std::span<const QuotaId> skus, int64_t at_ms,
                       int64_t now_ms, QuotaLefts& left, bool prefetched) const {
  LeftCounters counters(at_ms);
  BookIds wanted(skus.size());
  for (size_t i = 0; i < skus.size(); ++i) wanted[i] = book_.Find(skus[i]);
  if (wanted.size() > LeftCounters::kFewSkus) LeaveDistinct(wanted);
  const CallHashes hashes = Approach(user, wanted, prefetched);
  const RecordTable::Record record = book_.users.Find(EntityKey(user).view(), hashes.user);
  if (record) record.PrefetchPayload();
  AddSkus(wanted, hashes, counters);
  if (record) {
    const Retention::Moment at = book_.retention.At(now_ms);
    for (PurchaseReader reader(record.payload()); reader.Next();) {
      if (book_.retention.Keeps(reader.line(), at)) counters.Count(reader.line());
    }
  } else if (book_.large != nullptr) {
    const EntityKey key(user);
    if (LargeUser* large = book_.FindLarge(key.view()))
      LargePurchases(book_).Count(key.view(), *large, now_ms, counters);
  }
  left.Clear();
  for (const QuotaId& sku : skus)
    counters.AppendLeft(book_.Find(sku), sku, book_.texts.get(), left);
}

// A SKU's limits are decoded once, whoever has bought it, and a user that is named often is counted
// once.
bool BookAnswers::LeftAll(std::span<const QuotaId> users, const QuotaActions& actions,
                          int64_t now_ms, QuotaUserLefts& left) const {
  left.lefts.Clear();
  left.users.clear();
  const BookUsers kept(book_);
  const bool is_bounded = users.size() > 1;
  if (is_bounded && kept.HasTooMany(users)) return false;
  absl::flat_hash_map<QuotaId, size_t> hashes;  // in the next two
  std::vector<QuotaId> distinct;
  std::vector<BookIds> bought;
  BookIds all;
  for (const QuotaId& user : users) {
    if (!hashes.try_emplace(user, distinct.size()).second) continue;
    distinct.push_back(user);
    BookIds& skus = bought.emplace_back();
    kept.ForEachKept(EntityKey(user).view(), now_ms, [&](const PurchaseLine& line) {
      if (line.qty > 0) skus.push_back(line.sku);
    });
    LeaveDistinct(skus);
    all.insert(all.end(), skus.begin(), skus.end());
  }
  LeaveDistinct(all);

  LeftCounters counters(now_ms);
  const BookActions listed = book_.Find(actions);
  size_t visited = 0;
  for (const BookId sku : all) {
    const LimitBlocks blocks = BookLimits(book_).BlocksOf(sku);
    if (blocks.empty()) continue;
    visited += counters.AddSku(sku, blocks, listed);
    if (is_bounded && visited > kMaxQuotaAnswer) return false;
  }
  size_t answered = 0;
  for (const QuotaId& user : users) {
    for (const BookId sku : bought[hashes[user]]) answered += counters.LimitsOf(sku);
    if (is_bounded && answered > kMaxQuotaAnswer) return false;
  }

  std::vector<QuotaUserLefts::Skus> ranges;
  for (size_t i = 0; i < distinct.size(); ++i) {
    BookIds& skus = bought[i];
    const auto has_none = [&](const BookId& sku) { return counters.LimitsOf(sku) == 0; };
    skus.erase(std::remove_if(skus.begin(), skus.end(), has_none), skus.end());
    ranges.push_back({left.lefts.size(), left.lefts.size() + skus.size()});
    if (skus.empty()) continue;
    for (const BookId sku : skus) counters.Restart(sku);
    kept.ForEachKept(EntityKey(distinct[i]).view(), now_ms,
                     [&](const PurchaseLine& line) { counters.Count(line); });
    book_.SortByName(skus);
    for (const BookId sku : skus)
      counters.AppendLeft(sku, book_.NameOf(sku), book_.texts.get(), left.lefts);
  }
  for (const QuotaId& user : users) left.users.push_back(ranges[hashes[user]]);
  return true;
}

void BookAnswers::CountUses(const QuotaId& user, std::span<const QuotaId> skus, int64_t now_ms,
                            LeftCounters& counters) const {
  BookIds wanted(skus.size());
  for (size_t i = 0; i < skus.size(); ++i) wanted[i] = book_.Find(skus[i]);
  LeaveDistinct(wanted);
  AddSkus(wanted, Approach(user, wanted), counters);
  const EntityKey key(user);
  if (LargeUser* large = book_.FindLarge(key.view())) {
    LargePurchases(book_).Count(key.view(), *large, now_ms, counters);
    LargePurchases(book_).NoteTimes(key.view(), *large, now_ms, counters);
    return;
  }
  BookUsers(book_).ForEachKept(key.view(), now_ms, [&](const PurchaseLine& line) {
    counters.Count(line);
    counters.NoteTime(line);
  });
}

}  // namespace tally
