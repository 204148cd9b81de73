// The operations of QuotaBook on large users (large_user.h).
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <list>

#include "core/base/check.h"
#include "core/quota/quota_book.h"

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

bool QuotaBook::IsUnsettled(const LargeUser& user) const {
  return !retention_.gone().empty() && retention_.gone().back().recorded_ms > user.gone_through;
}

void QuotaBook::IndexLarge(std::string_view key, LargeUser& user) const {
  if (user.indexed) return;
  user.indexed = true;
  user.cleared.clear();
  absl::flat_hash_set<BookId> skus;
  std::vector<std::pair<uint32_t, uint32_t>> orders;
  std::vector<QuantitySums::Entry> entries;
  std::vector<QuantitySums::Entry> held;
  for (const auto& [number, earliest_ms] : user.chunks) {
    for (const PurchaseLine& line : large_->Read(key, number).purchases.lines) {
      orders.emplace_back(LargeUser::HashOf(line.order), number);
      user.latest_ms = std::max({user.latest_ms, line.ts_ms, line.held_at_ms});
      if (skus.insert(line.sku).second) {
        for (const Deletion& one : DeletionsOf(line.sku)) {
          user.cleared[{line.sku, one.action}] = one.deleted_ms;
        }
      }
      user.NoteHold(line);
      user.ForEachTotal(line, [&](BookId action) {
        (line.is_held() ? held : entries).push_back({LargeUser::SumKey(line, action), line.qty});
      });
    }
  }
  std::sort(orders.begin(), orders.end());
  user.orders = {orders.begin(), orders.end()};
  user.marks_by_order.clear();
  user.marks_by_hash.clear();
  for (const auto& [number, count] : user.mark_chunks) {
    for (const ReturnMark& mark : large_->ReadMarks(key, number)) user.IndexMark(mark, number);
  }
  user.sums.Assign(std::move(entries));
  user.held_sums.Assign(std::move(held));
  large_->Account(user);
}

void QuotaBook::PutChunks(std::string_view key, LargeUser& user, std::span<OpenChunk> chunks) {
  // All are encoded before one is stored: their texts are views into records that storing moves.
  for (OpenChunk& chunk : chunks) {
    if (!chunk.purchases.lines.empty()) EncodePurchases(chunk.purchases, chunk.block);
  }
  RecordTable& table = large_->chunks;
  for (const OpenChunk& chunk : chunks) {
    const std::string chunk_key = LargeUsers::ChunkKey(key, chunk.number);
    const uint64_t hash = table.Hash(chunk_key);
    BeforeChange(table, hash, chunk_key);
    const RecordTable::Record old = table.Find(chunk_key, hash);
    const std::vector<PurchaseLine>& lines = chunk.purchases.lines;
    user.lines += lines.size();
    user.lines -= chunk.stored_lines;
    purchase_count_ += lines.size();
    purchase_count_ -= chunk.stored_lines;
    if (lines.empty()) {
      if (!old) continue;
      table.Erase(old);
      user.RemoveChunk(chunk.number);
      continue;
    }
    const RecordTable::Record record = Replace(table, old, chunk_key, hash, chunk.block.size());
    std::memcpy(record.data(), chunk.block.data(), chunk.block.size());
    user.SetChunk(chunk.number, lines);
  }
  large_->Account(user);
}

void QuotaBook::MakeLarge(OpenUser& open) {
  if (large_ == nullptr) large_ = std::make_unique<LargeUsers>(seed_);
  const std::string_view key = open.key.view();
  LargeUser& user = large_->Add(key);
  if (!retention_.gone().empty()) user.gone_through = retention_.gone().back().recorded_ms;
  std::vector<OpenChunk> chunks = CutIntoChunks(open.purchases.lines);
  PutChunks(key, user, chunks);
  AddMarks(key, user, open.purchases.returns);
  purchase_count_ -= open.stored_lines;
  const uint64_t hash = users_.Hash(key);
  BeforeChange(users_, hash, key);
  if (open.record) users_.Erase(open.record);
}

// The lines of a large user, with the ones that are gone.
UserPurchases QuotaBook::AllLines(std::string_view key, const LargeUser& user) const {
  UserPurchases all;
  for (const auto& [number, earliest_ms] : user.chunks) {
    const UserPurchases part = large_->Read(key, number).purchases;
    all.lines.insert(all.lines.end(), part.lines.begin(), part.lines.end());
  }
  for (const auto& [number, count] : user.mark_chunks) {
    const std::vector<ReturnMark> part = large_->ReadMarks(key, number);
    all.returns.insert(all.returns.end(), part.begin(), part.end());
  }
  return all;
}

void QuotaBook::PackLarge(std::string_view large_key) {
  const std::string key(large_key);  // the argument may be the map's own
  LargeUser& user = *large_->Find(key);
  std::string block;
  int64_t due_ms = std::numeric_limits<int64_t>::max();
  size_t lines = 0;
  if (user.lines > 0) {
    const UserPurchases all = AllLines(key, user);
    lines = all.lines.size();
    for (const PurchaseLine& line : all.lines) due_ms = std::min(due_ms, retention_.DueOf(line));
    EncodePurchases(all, block);
  }
  TextUses uses;  // of returns whose order has no line: only what is loaded can have them
  if (lines == 0) uses.Add(AllLines(key, user), -1);
  EraseChunks(key, user);
  large_->Remove(key);
  ChangeUses(uses);
  if (lines == 0) return;
  purchase_count_ += lines;
  const uint64_t hash = users_.Hash(key);
  BeforeChange(users_, hash, key);
  const RecordTable::Record record = users_.Insert(key, hash, block.size());
  std::memcpy(record.data(), block.data(), block.size());
  record.segment().due = std::min(record.segment().due, due_ms);
}

void QuotaBook::EraseChunks(std::string_view key, LargeUser& user) {
  RecordTable& table = large_->chunks;
  const auto erase = [&](uint32_t number) {
    const std::string chunk_key = LargeUsers::ChunkKey(key, number);
    const uint64_t hash = table.Hash(chunk_key);
    BeforeChange(table, hash, chunk_key);
    table.Erase(table.Find(chunk_key, hash));
  };
  for (const auto& [number, earliest_ms] : user.chunks) erase(number);
  for (const auto& [number, count] : user.mark_chunks) erase(number);
  purchase_count_ -= user.lines;
}

void QuotaBook::PackLargeUsers() {
  while (large_ != nullptr && !large_->users.empty()) PackLarge(large_->users.begin()->first);
}

void QuotaBook::CountLarge(std::string_view key, LargeUser& user, int64_t now_ms,
                           LeftCounters& counters) const {
  IndexLarge(key, user);
  if (IsBeyondSums(user)) {
    return ForEachKept(key, now_ms, [&](const PurchaseLine& line) { counters.Count(line); });
  }
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  QuantitySums::Reader sums(user.sums);
  QuantitySums::Reader held(user.held_sums);
  counters.SetBought([&](BookId sku, BookId action, int64_t after_ms, int64_t deleted_ms) {
    if (deleted_ms > user.ClearedThrough(sku, action)) return int64_t{0};
    const int64_t bought = sums.SumAfter(sku, action, std::max(after_ms, horizon_ms));
    if (user.held_sums.empty()) return bought;
    return bought + held.SumAfter(sku, action, std::max(now_ms, counters.now_ms()));
  });
}

void QuotaBook::NoteTimesOfLarge(std::string_view key, LargeUser& user, int64_t now_ms,
                                 LeftCounters& counters) const {
  // Of a hold that begins after now the sums do not know when it begins.
  const bool held_ahead = !user.held_sums.empty() && user.latest_ms > now_ms;
  if (IsBeyondSums(user) || held_ahead) {
    return ForEachKept(key, now_ms, [&](const PurchaseLine& line) { counters.NoteTime(line); });
  }
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  counters.SetTimes(
      [&](BookId sku, BookId action, int64_t after_ms) {
        return user.sums.FirstAfter(sku, action, std::max(after_ms, horizon_ms));
      },
      [&](BookId sku, BookId action) { return user.held_sums.FirstAfter(sku, action, now_ms); });
}

void QuotaBook::AppendToLarge(std::string_view key, LargeUser& user,
                              std::span<const PurchaseLine> lines) {
  TextUses uses;
  for (const PurchaseLine& line : lines) {
    uses.Add(line.sku, 1);
    uses.Add(line.action, 1);
    // Nothing that is recorded from now on may be mixed with what a deletion excludes.
    for (const Deletion& one : DeletionsOf(line.sku)) {
      if (one.deleted_ms <= user.ClearedThrough(line.sku, one.action)) continue;
      user.sums.Clear(line.sku, one.action);
      user.held_sums.Clear(line.sku, one.action);
      user.cleared[{line.sku, one.action}] = one.deleted_ms;
    }
  }
  ChangeUses(uses);
  std::vector<OpenChunk> chunks;
  uint32_t next = 0;
  if (!user.chunks.empty()) {
    next = user.chunks.rbegin()->first + 1;
    chunks.push_back(large_->Read(key, next - 1));
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
  PutChunks(key, user, chunks);
}

QuotaBook::OpenUser QuotaBook::OpenOrder(const QuotaId& user_id, LargeUser& user,
                                         const QuotaId& order, int64_t now_ms) {
  OpenUser open{EntityKey(user_id), {}, 0, {}, {}, {}, retention_.At(now_ms)};
  for (const uint32_t number : user.ChunksOf(order)) {
    const OpenChunk& chunk = open.chunks.emplace_back(large_->Read(open.key.view(), number));
    for (const PurchaseLine& line : chunk.purchases.lines) {
      if (retention_.Keeps(line, open.at)) open.purchases.lines.push_back(line);
    }
  }
  return open;
}

void QuotaBook::StoreOrder(OpenUser& open, LargeUser& user) {
  size_t at = 0;
  std::vector<OpenChunk> changed;
  for (OpenChunk& chunk : open.chunks) {
    bool is_changed = false;
    for (PurchaseLine& line : chunk.purchases.lines) {
      if (!retention_.Keeps(line, open.at)) continue;
      const PurchaseLine& now = open.purchases.lines[at++];
      if (now == line) continue;
      user.TakeFromSums(line);
      line = now;
      user.AddToSums(line);
      is_changed = true;
    }
    if (is_changed) changed.push_back(std::move(chunk));
  }
  PutChunks(open.key.view(), user, changed);
  TextUses uses;
  for (const ReturnMark& mark : open.purchases.returns) uses.Add(mark.sku, 1);
  ChangeUses(uses);
  AddMarks(open.key.view(), user, open.purchases.returns);
}

bool QuotaBook::ResetLarge(std::string_view key, LargeUser& user, const BookActions& actions,
                           const Retention::Moment& at) {
  if (actions.all()) {
    bool any_kept = false;
    ForEachKept(key, at.now_ms, [&](const PurchaseLine&) { any_kept = true; });
    if (!any_kept) return false;
    TextUses uses;
    if (texts_ != nullptr) uses.Add(AllLines(key, user), -1);
    EraseChunks(key, user);
    large_->Remove(key);
    ChangeUses(uses);
    return true;
  }
  bool any_changed = false;
  std::vector<uint32_t> numbers;
  for (const auto& [number, earliest_ms] : user.chunks) numbers.push_back(number);
  for (const uint32_t number : numbers) {
    OpenChunk chunk = large_->Read(key, number);
    bool changed = false;
    for (PurchaseLine& line : chunk.purchases.lines) {
      const uint8_t resets = line.resets | ResetsOf(line, actions);
      if (resets == line.resets || !retention_.Keeps(line, at)) continue;
      user.TakeFromSums(line);
      line.resets = resets;
      user.AddToSums(line);
      changed = true;
    }
    if (changed) PutChunks(key, user, {&chunk, 1});
    any_changed |= changed;
  }
  if (any_changed) ExpireLarge(key, user, at.now_ms);
  return any_changed;
}

}  // namespace tally
