#include "core/quota/large_expiry.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <limits>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "core/quota/entity_key.h"

namespace tally {

// Removes the lines of a chunk that are gone, and the returns of orders that have no line left.
void LargeExpiry::DropFromChunk(std::string_view key, LargeUser& user, uint32_t number,
                                const Retention::Moment& at) {
  OpenChunk chunk = book_.large->Read(key, number);
  UserPurchases kept;
  TextUses uses;
  std::vector<QuotaId> gone;             // orders
  absl::flat_hash_set<uint32_t> orders;  // of the lines that are kept
  for (const PurchaseLine& line : chunk.purchases.lines) {
    if (book_.retention.Keeps(line, at)) {
      kept.lines.push_back(line);
      orders.insert(LargeUser::HashOf(line.order));
    } else {
      user.TakeFromSums(line);
      uses.Add(line.sku, -1);
      uses.Add(line.action, -1);
      gone.push_back(line.order);
    }
  }
  if (gone.empty()) return;
  std::list<std::string> texts;  // the ids of orders are views into a record that storing moves
  std::vector<QuotaId> ended;
  for (const QuotaId& order : gone) {
    const uint32_t hash = LargeUser::HashOf(order);
    if (!orders.contains(hash)) user.orders.erase({hash, number});
    if (!user.HasMarks(hash) || store_.Knows(key, user, order, at)) continue;
    ended.push_back(order.is_text() ? QuotaId::Text(texts.emplace_back(order.text())) : order);
  }
  chunk.purchases = std::move(kept);
  store_.Put(key, user, {&chunk, 1});
  for (const QuotaId& order : ended) store_.ForgetReturns(key, user, order, uses);
  book_.ChangeUses(uses);
}

void LargeExpiry::DropOrder(std::string_view key, LargeUser& user, const QuotaId& order,
                            const Retention::Moment& at) {
  for (const uint32_t number : user.ChunksOf(order)) {
    if (user.IsDue(number, at)) DropFromChunk(key, user, number, at);
  }
}

void LargeExpiry::Settle(std::string_view key, LargeUser& user) {
  if (!store_.IsUnsettled(user)) return;
  const int64_t horizon_ms = book_.retention.gone().front().horizon_ms;
  const std::vector<std::pair<int64_t, uint32_t>> all(
      user.by_time.begin(),
      user.by_time.upper_bound({horizon_ms, std::numeric_limits<uint32_t>::max()}));
  for (const auto& [earliest_ms, number] : all) {
    DropFromChunk(key, user, number, {RecordingOrder::kNever, RecordingOrder::kNever});
  }
  user.gone_through_ms = book_.retention.gone().back().recorded_ms;
}

void LargeExpiry::Pack(std::string_view large_key) {
  const std::string key(large_key);  // the argument may be the map's own
  LargeUser& user = *book_.large->Find(key);
  std::string block;
  int64_t due_ms = std::numeric_limits<int64_t>::max();
  size_t lines = 0;
  if (user.lines > 0) {
    const UserPurchases all = store_.AllLines(key, user);
    lines = all.lines.size();
    for (const PurchaseLine& line : all.lines)
      due_ms = std::min(due_ms, book_.retention.DueOf(line));
    EncodePurchases(all, block);
  }
  TextUses uses;  // of returns whose order has no line: only what is loaded can have them
  if (lines == 0) uses.Add(store_.AllLines(key, user), -1);
  store_.Erase(key, user);
  book_.large->Remove(key);
  book_.ChangeUses(uses);
  if (lines == 0) return;
  book_.purchase_count += lines;
  const uint64_t hash = book_.users.Hash(key);
  const RecordTable::Record record = book_.Put(book_.users, {}, key, hash, block);
  record.segment().due_ms = std::min(record.segment().due_ms, due_ms);
}

bool LargeExpiry::Expire(std::string_view key, LargeUser& user, int64_t now_ms) {
  const Retention::Moment at = book_.retention.At(now_ms);
  const size_t before = book_.purchase_count;
  if (store_.IsUnsettled(user) || user.IsDue(at)) {
    store_.Index(key, user);
    Settle(key, user);
    for (size_t i = 0; i < kChunksAtOnce && user.IsDue(at); ++i) {
      DropFromChunk(key, user, user.DueChunk(at), at);
    }
  }
  const bool is_small = user.IsSmall();
  const bool changed = is_small || book_.purchase_count != before;
  if (is_small) Pack(key);
  return changed;
}

bool LargeExpiry::Sweep(int64_t now_ms, size_t& budget, QuotaExpired* expired) {
  constexpr size_t kCost = kChunksAtOnce * LargeUser::kChunkLines;
  while (budget > 0) {
    if (book_.large == nullptr) return false;
    const auto at = book_.large->users.lower_bound(book_.large->sweep_from);
    if (at == book_.large->users.end()) {
      book_.large->sweep_from.clear();
      if (book_.large->users.empty() && book_.snapshot == nullptr) book_.large = nullptr;
      return false;
    }
    const std::string key = at->first;
    book_.large->sweep_from = key;
    const bool changed = Expire(key, *at->second, now_ms);
    budget -= std::min(budget, 1 + (changed ? kCost : 0));
    if (!changed) {
      book_.large->sweep_from.push_back('\0');
    } else if (expired != nullptr) {
      expired->users.push_back(TextOf(EntityKey::UserOf(key)));
    }
  }
  return true;
}

}  // namespace tally
