// What is freed of a large user (large_user.h): what is out of retention, oldest chunks first.
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <limits>
#include <list>

#include "core/quota/quota_book.h"

namespace tally {

// Removes the lines of a chunk that are gone, and the returns of orders that have no line left.
void QuotaBook::DropFromChunk(std::string_view key, LargeUser& user, uint32_t number,
                              const Retention::Moment& at) {
  OpenChunk chunk = large_->Read(key, number);
  UserPurchases kept;
  TextUses uses;
  std::vector<QuotaId> gone;             // orders
  absl::flat_hash_set<uint32_t> orders;  // of the lines that are kept
  for (const PurchaseLine& line : chunk.purchases.lines) {
    if (retention_.Keeps(line, at)) {
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
    if (!user.HasMarks(hash) || LargeKnows(key, user, order, at)) continue;
    ended.push_back(order.is_text() ? QuotaId::Text(texts.emplace_back(order.text())) : order);
  }
  chunk.purchases = std::move(kept);
  PutChunks(key, user, {&chunk, 1});
  for (const QuotaId& order : ended) ForgetReturns(key, user, order, uses);
  ChangeUses(uses);
}

void QuotaBook::DropOrder(std::string_view key, LargeUser& user, const QuotaId& order,
                          const Retention::Moment& at) {
  for (const uint32_t number : user.ChunksOf(order)) {
    if (user.IsDue(number, at)) DropFromChunk(key, user, number, at);
  }
}

bool QuotaBook::LargeKnows(std::string_view key, const LargeUser& user, const QuotaId& order,
                           const Retention::Moment& at) const {
  const std::vector<uint32_t> numbers = user.ChunksOf(order);
  // The latest is kept longest.
  return std::any_of(numbers.rbegin(), numbers.rend(), [&](uint32_t number) {
    const OpenChunk chunk = large_->Read(key, number);
    const std::vector<PurchaseLine>& lines = chunk.purchases.lines;
    return std::any_of(lines.begin(), lines.end(), [&](const PurchaseLine& line) {
      return line.order == order && retention_.Keeps(line, at);
    });
  });
}

LargeUser* QuotaBook::OpenLarge(std::string_view key) {
  LargeUser* user = FindLarge(key);
  if (user != nullptr) IndexLarge(key, *user);
  return user;
}

void QuotaBook::SettleLarge(std::string_view key, LargeUser& user) {
  if (!IsUnsettled(user)) return;
  constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
  const int64_t horizon_ms = retention_.gone().front().horizon_ms;
  const std::vector<std::pair<int64_t, uint32_t>> all(
      user.by_time.begin(),
      user.by_time.upper_bound({horizon_ms, std::numeric_limits<uint32_t>::max()}));
  for (const auto& [earliest_ms, number] : all) DropFromChunk(key, user, number, {kNever, kNever});
  user.gone_through = retention_.gone().back().recorded_ms;
}

bool QuotaBook::ExpireLarge(std::string_view key, LargeUser& user, int64_t now_ms) {
  const Retention::Moment at = retention_.At(now_ms);
  const size_t before = purchase_count_;
  if (IsUnsettled(user) || user.IsDue(at)) {
    IndexLarge(key, user);
    SettleLarge(key, user);
    for (size_t i = 0; i < kChunksAtOnce && user.IsDue(at); ++i) {
      DropFromChunk(key, user, user.DueChunk(at), at);
    }
  }
  const bool is_small = user.IsSmall();
  const bool changed = is_small || purchase_count_ != before;
  if (is_small) PackLarge(key);
  return changed;
}

bool QuotaBook::SweepLarge(int64_t now_ms, size_t& budget, QuotaExpired* expired) {
  constexpr size_t kCost = kChunksAtOnce * LargeUser::kChunkLines;
  while (budget > 0) {
    if (large_ == nullptr) return false;
    const auto at = large_->users.lower_bound(large_->sweep_from);
    if (at == large_->users.end()) {
      large_->sweep_from.clear();
      if (large_->users.empty() && snapshot_ == nullptr) large_ = nullptr;
      return false;
    }
    const std::string key = at->first;
    large_->sweep_from = key;
    const bool changed = ExpireLarge(key, *at->second, now_ms);
    budget -= std::min(budget, 1 + (changed ? kCost : 0));
    if (!changed) {
      large_->sweep_from.push_back('\0');
    } else if (expired != nullptr) {
      expired->users.push_back(TextOf(EntityKey::UserOf(key)));
    }
  }
  return true;
}

}  // namespace tally
