#include "core/quota/large_purchases.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/quota/book_limits.h"
#include "core/quota/large_expiry.h"
#include "core/quota/line_set_back.h"

namespace tally {
namespace {

// Cuts lines into chunks, numbered from 0.
std::vector<OpenChunk> CutIntoChunks(const std::vector<PurchaseLine>& lines) {
  std::vector<OpenChunk> chunks;
  for (const PurchaseLine& line : lines) {
    if (chunks.empty() || chunks.back().purchases.lines.size() >= LargeUser::kChunkLines) {
      const auto number = static_cast<uint32_t>(chunks.size());
      chunks.emplace_back().number = number;
    }
    chunks.back().purchases.lines.push_back(line);
  }
  return chunks;
}

}  // namespace

void LargePurchases::Make(OpenUser& open) {
  const std::string_view key = open.key.view();
  LargeUser& user = book_.OpenLarge().Add(key);
  if (!book_.retention.gone().empty())
    user.gone_through_ms = book_.retention.gone().back().recorded_ms;
  std::vector<OpenChunk> chunks = CutIntoChunks(open.purchases.lines);
  store_.Put(key, user, chunks);
  store_.AddMarks(key, user, open.purchases.returns);
  book_.purchase_count -= open.stored_lines;
  book_.Erase(book_.users, key);
}

void LargePurchases::Count(std::string_view key, LargeUser& user, int64_t now_ms,
                           LeftCounters& counters) const {
  store_.Index(key, user);
  if (IsBeyondSums(user)) {
    return store_.ForEachKept(key, user, book_.retention.At(now_ms),
                              [&](const PurchaseLine& line) { counters.Count(line); });
  }
  const int64_t horizon_ms = book_.retention.Horizon(now_ms);
  QuantitySums::Reader sums(user.sums);
  QuantitySums::Reader held(user.held_sums);
  counters.SetBought([&](BookId sku, BookId action, int64_t after_ms, int64_t deleted_ms) {
    if (deleted_ms > user.ClearedThrough(sku, action)) return int64_t{0};
    const int64_t bought = sums.SumAfter(sku, action, std::max(after_ms, horizon_ms));
    if (user.held_sums.empty()) return bought;
    return bought + held.SumAfter(sku, action, std::max(now_ms, counters.now_ms()));
  });
}

void LargePurchases::NoteTimes(std::string_view key, LargeUser& user, int64_t now_ms,
                               LeftCounters& counters) const {
  // Of a hold that begins after now the sums do not know when it begins.
  const bool held_ahead = !user.held_sums.empty() && user.latest_ms > now_ms;
  if (IsBeyondSums(user) || held_ahead) {
    return store_.ForEachKept(key, user, book_.retention.At(now_ms),
                              [&](const PurchaseLine& line) { counters.NoteTime(line); });
  }
  const int64_t horizon_ms = book_.retention.Horizon(now_ms);
  counters.SetTimes(
      [&](BookId sku, BookId action, int64_t after_ms) {
        return user.sums.FirstAfter(sku, action, std::max(after_ms, horizon_ms));
      },
      [&](BookId sku, BookId action) { return user.held_sums.FirstAfter(sku, action, now_ms); });
}

void LargePurchases::Append(std::string_view key, LargeUser& user,
                            std::span<const PurchaseLine> lines) {
  TextUses uses;
  for (const PurchaseLine& line : lines) {
    uses.Add(line.sku, 1);
    uses.Add(line.action, 1);
    // Nothing that is recorded from now on may be mixed with what a deletion excludes.
    for (const BookLimits::Deletion& one : BookLimits(book_).DeletionsOf(line.sku)) {
      if (one.deleted_ms <= user.ClearedThrough(line.sku, one.action)) continue;
      user.sums.Clear(line.sku, one.action);
      user.held_sums.Clear(line.sku, one.action);
      user.cleared[{line.sku, one.action}] = one.deleted_ms;
    }
  }
  book_.ChangeUses(uses);
  std::vector<OpenChunk> chunks;
  uint32_t next = 0;
  if (!user.chunks.empty()) {
    next = user.chunks.rbegin()->first + 1;
    chunks.push_back(book_.large->Read(key, next - 1));
  }
  for (const PurchaseLine& line : lines) {
    if (chunks.empty() || chunks.back().purchases.lines.size() >= LargeUser::kChunkLines) {
      chunks.emplace_back().number = next++;
    }
    chunks.back().purchases.lines.push_back(line);
    user.AddToSums(line);
    user.latest_ms = std::max({user.latest_ms, line.ts_ms, line.held_at_ms});
    user.orders.insert({LargeUser::HashOf(line.order), chunks.back().number});
  }
  store_.Put(key, user, chunks);
}

void LargePurchases::Record(std::string_view key, LargeUser& user, const QuotaId& order,
                            std::span<const PurchaseLine> lines, int64_t now_ms) {
  LargeExpiry expiry(book_);
  if (user.marks > 0) expiry.DropOrder(key, user, order, book_.retention.At(now_ms));
  Append(key, user, lines);
  expiry.Expire(key, user, now_ms);
}

OpenUser LargePurchases::OpenOrder(const QuotaId& user_id, LargeUser& user, const QuotaId& order,
                                   int64_t now_ms) const {
  OpenUser open{.key = EntityKey(user_id), .large = &user, .at = book_.retention.At(now_ms)};
  for (const uint32_t number : user.ChunksOf(order)) {
    const OpenChunk& chunk = open.chunks.emplace_back(book_.large->Read(open.key.view(), number));
    for (const PurchaseLine& line : chunk.purchases.lines) {
      if (book_.retention.Keeps(line, open.at)) open.purchases.lines.push_back(line);
    }
  }
  return open;
}

void LargePurchases::StoreOrder(OpenUser& open) {
  LargeUser& user = *open.large;
  size_t at = 0;
  std::vector<OpenChunk> changed;
  for (OpenChunk& chunk : open.chunks) {
    bool is_changed = false;
    for (PurchaseLine& line : chunk.purchases.lines) {
      if (!book_.retention.Keeps(line, open.at)) continue;
      const PurchaseLine& now = open.purchases.lines[at++];
      if (now == line) continue;
      user.TakeFromSums(line);
      line = now;
      user.AddToSums(line);
      is_changed = true;
    }
    if (is_changed) changed.push_back(std::move(chunk));
  }
  store_.Put(open.key.view(), user, changed);
  TextUses uses;
  for (const ReturnMark& mark : open.purchases.returns) uses.Add(mark.sku, 1);
  book_.ChangeUses(uses);
  store_.AddMarks(open.key.view(), user, open.purchases.returns);
}

template <typename IsWanted, typename Change>
bool LargePurchases::ChangeLines(std::string_view key, LargeUser& user, IsWanted is_wanted,
                                 Change change) {
  std::vector<uint32_t> numbers;
  for (const auto& [number, earliest_ms] : user.chunks) numbers.push_back(number);
  bool any_changed = false;
  for (const uint32_t number : numbers) {
    OpenChunk chunk = book_.large->Read(key, number);
    bool changed = false;
    for (PurchaseLine& line : chunk.purchases.lines) {
      if (!is_wanted(line)) continue;
      user.TakeFromSums(line);
      change(line);
      user.AddToSums(line);
      changed = true;
    }
    if (changed) store_.Put(key, user, {&chunk, 1});
    any_changed |= changed;
  }
  return any_changed;
}

bool LargePurchases::Reset(std::string_view key, LargeUser& user, const BookActions& actions,
                           const Retention::Moment& at) {
  if (actions.all()) {
    bool any_kept = false;
    store_.ForEachKept(key, user, at, [&](const PurchaseLine&) { any_kept = true; });
    if (!any_kept) return false;
    TextUses uses;
    if (book_.texts != nullptr) uses.Add(store_.AllLines(key, user), -1);
    store_.Erase(key, user);
    book_.large->Remove(key);
    book_.ChangeUses(uses);
    return true;
  }
  const auto is_reset = [&](const PurchaseLine& line) {
    return (actions.ResetsOf(line) & ~line.resets) != 0 && book_.retention.Keeps(line, at);
  };
  const bool changed = ChangeLines(
      key, user, is_reset, [&](PurchaseLine& line) { line.resets |= actions.ResetsOf(line); });
  if (changed) LargeExpiry(book_).Expire(key, user, at.now_ms);
  return changed;
}

bool LargePurchases::SetBack(std::string_view key, LargeUser& user, int64_t now_ms) {
  if (user.latest_ms <= now_ms) return false;
  user.latest_ms = now_ms;
  const auto is_ahead = [&](const PurchaseLine& line) { return IsAhead(line, now_ms); };
  ChangeLines(key, user, is_ahead, [&](PurchaseLine& line) { SetLineBack(book_, line, now_ms); });
  return true;
}

}  // namespace tally
