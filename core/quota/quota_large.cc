// The operations of QuotaBook on large users (large_user.h).
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/check.h"
#include "core/quota/quota_book.h"

namespace tally {
namespace {

bool HasOrder(const std::vector<PurchaseLine>& lines, const QuotaId& order) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const PurchaseLine& line) { return line.order == order; });
}

// Cuts lines into chunks, numbered from 0. Each return goes to a chunk with a line of its order.
std::vector<OpenChunk> CutIntoChunks(const UserPurchases& purchases) {
  std::vector<OpenChunk> chunks;
  for (const PurchaseLine& line : purchases.lines) {
    if (chunks.empty() || chunks.back().purchases.lines.size() >= LargeUser::kChunkLines) {
      const auto number = static_cast<uint32_t>(chunks.size());
      chunks.emplace_back().number = number;
    }
    chunks.back().purchases.lines.push_back(line);
  }
  for (const ReturnMark& mark : purchases.returns) {
    for (OpenChunk& chunk : chunks) {
      if (!HasOrder(chunk.purchases.lines, mark.order)) continue;
      chunk.purchases.returns.push_back(mark);
      break;
    }
  }
  return chunks;
}

}  // namespace

bool QuotaBook::IsUnsettled(const LargeUser& user) const {
  return !retention_.gone().empty() && retention_.gone().back().recorded_ms > user.gone_through;
}

template <typename Visit>
void QuotaBook::ForEachDeletion(BookId sku, Visit visit) const {
  const RecordTable::Record record = limits_.Find(EntityKey(sku).view());
  if (!record) return;
  LimitEntry entry;
  for (PackedInput in(record.payload()); !in.empty();) {
    if (!ReadLimitEntry(in, entry)) break;
    if (entry.deletion) visit(entry.action, entry.deletion->deleted_ms);
  }
}

void QuotaBook::IndexLarge(std::string_view key, LargeUser& user) const {
  if (user.indexed) return;
  user.indexed = true;
  user.cleared.clear();
  absl::flat_hash_set<BookId> skus;
  std::vector<std::pair<uint32_t, uint32_t>> orders;
  std::vector<QuantitySums::Entry> entries;
  for (const auto& [number, earliest_ms] : user.chunks) {
    for (const PurchaseLine& line : large_->Read(key, number).purchases.lines) {
      orders.emplace_back(LargeUser::HashOf(line.order), number);
      if (skus.insert(line.sku).second) {
        ForEachDeletion(line.sku, [&, sku = line.sku](BookId action, int64_t deleted_ms) {
          user.cleared[{sku, action}] = deleted_ms;
        });
      }
      user.ForEachTotal(line, [&](BookId action) {
        entries.push_back({{line.sku, action, line.ts_ms}, line.qty});
      });
    }
  }
  std::sort(orders.begin(), orders.end());
  user.orders = {orders.begin(), orders.end()};
  user.sums.Assign(std::move(entries));
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
    int64_t earliest_ms = std::numeric_limits<int64_t>::max();
    for (const PurchaseLine& line : lines) earliest_ms = std::min(earliest_ms, line.ts_ms);
    user.SetEarliest(chunk.number, earliest_ms);
  }
  large_->Account(user);
}

void QuotaBook::MakeLarge(OpenUser& open) {
  if (large_ == nullptr) large_ = std::make_unique<LargeUsers>(seed_);
  const std::string_view key = open.key.view();
  LargeUser& user = large_->Add(key);
  if (!retention_.gone().empty()) user.gone_through = retention_.gone().back().recorded_ms;
  std::vector<OpenChunk> chunks = CutIntoChunks(open.purchases);
  PutChunks(key, user, chunks);
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
    all.returns.insert(all.returns.end(), part.returns.begin(), part.returns.end());
  }
  return all;
}

void QuotaBook::PackLarge(std::string_view large_key) {
  const std::string key(large_key);  // the argument may be the map's own
  LargeUser& user = *large_->Find(key);
  std::string block;
  int64_t earliest_ms = std::numeric_limits<int64_t>::max();
  size_t lines = 0;
  if (user.lines > 0) {
    const UserPurchases all = AllLines(key, user);
    lines = all.lines.size();
    for (const PurchaseLine& line : all.lines) earliest_ms = std::min(earliest_ms, line.ts_ms);
    EncodePurchases(all, block);
  }
  EraseChunks(key, user);
  large_->Remove(key);
  if (lines == 0) return;
  purchase_count_ += lines;
  const uint64_t hash = users_.Hash(key);
  BeforeChange(users_, hash, key);
  const RecordTable::Record record = users_.Insert(key, hash, block.size());
  std::memcpy(record.data(), block.data(), block.size());
  record.segment().due = std::min(record.segment().due, earliest_ms);
}

void QuotaBook::EraseChunks(std::string_view key, LargeUser& user) {
  RecordTable& table = large_->chunks;
  for (const auto& [number, earliest_ms] : user.chunks) {
    const std::string chunk_key = LargeUsers::ChunkKey(key, number);
    const uint64_t hash = table.Hash(chunk_key);
    BeforeChange(table, hash, chunk_key);
    table.Erase(table.Find(chunk_key, hash));
  }
  purchase_count_ -= user.lines;
}

void QuotaBook::PackLargeUsers() {
  while (large_ != nullptr && !large_->users.empty()) PackLarge(large_->users.begin()->first);
}

// Removes the lines of a chunk that are gone. A return whose order has lines in other chunks only
// is moved there.
void QuotaBook::DropFromChunk(std::string_view key, LargeUser& user, uint32_t number,
                              int64_t horizon_ms) {
  std::vector<OpenChunk> chunks;
  chunks.push_back(large_->Read(key, number));
  UserPurchases kept;
  TextUses uses;
  uses.Add(chunks[0].purchases, -1);
  absl::flat_hash_set<uint32_t> orders;  // of the lines that are kept
  for (const PurchaseLine& line : chunks[0].purchases.lines) {
    if (retention_.Keeps(line, horizon_ms)) {
      kept.lines.push_back(line);
      orders.insert(LargeUser::HashOf(line.order));
    } else {
      user.TakeFromSums(line);
    }
  }
  if (kept.lines.size() == chunks[0].stored_lines) return;
  for (const PurchaseLine& line : chunks[0].purchases.lines) {
    const uint32_t hash = LargeUser::HashOf(line.order);
    if (!orders.contains(hash)) user.orders.erase({hash, number});
  }
  std::vector<ReturnMark> marks = std::move(chunks[0].purchases.returns);
  chunks[0].purchases = std::move(kept);
  for (const ReturnMark& mark : marks) {
    UserPurchases* home = FindHome(key, user, mark.order, horizon_ms, chunks);
    if (home == nullptr) continue;
    home->returns.push_back(mark);
    uses.Add(mark.sku, 1);
  }
  for (const PurchaseLine& line : chunks[0].purchases.lines) {
    uses.Add(line.sku, 1);
    uses.Add(line.action, 1);
  }
  PutChunks(key, user, chunks);
  ChangeUses(uses);
}

// Returns a chunk with a line of the order that is kept, preferably one of `chunks`. Adds it to
// `chunks` if it is not there. Null if there is none.
UserPurchases* QuotaBook::FindHome(std::string_view key, const LargeUser& user,
                                   const QuotaId& order, int64_t horizon_ms,
                                   std::vector<OpenChunk>& chunks) const {
  const auto has_kept = [&](const OpenChunk& chunk) {
    return std::any_of(chunk.purchases.lines.begin(), chunk.purchases.lines.end(),
                       [&](const PurchaseLine& line) {
                         return line.order == order && retention_.Keeps(line, horizon_ms);
                       });
  };
  for (OpenChunk& chunk : chunks) {
    if (has_kept(chunk)) return &chunk.purchases;
  }
  // The latest is kept longest.
  std::vector<uint32_t> numbers = user.ChunksOf(order);
  for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) {
    OpenChunk chunk = large_->Read(key, *number);
    if (!has_kept(chunk)) continue;
    const bool is_open = std::any_of(chunks.begin(), chunks.end(), [&](const OpenChunk& other) {
      return other.number == *number;
    });
    if (is_open) continue;
    chunks.push_back(std::move(chunk));
    return &chunks.back().purchases;
  }
  return nullptr;
}

size_t QuotaBook::DropFromLarge(std::string_view key, LargeUser& user, int64_t now_ms,
                                size_t most_chunks) {
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  const bool is_unsettled = IsUnsettled(user);
  const auto is_due = [&] {
    return !user.by_time.empty() && user.by_time.begin()->first <= horizon_ms;
  };
  if (!is_unsettled && !is_due()) return 0;
  IndexLarge(key, user);
  size_t chunks = 0;
  if (is_unsettled) {
    const std::vector<std::pair<int64_t, uint32_t>> all(
        user.by_time.begin(), user.by_time.upper_bound({retention_.WidestHorizon(now_ms),
                                                        std::numeric_limits<uint32_t>::max()}));
    for (const auto& [earliest_ms, number] : all) DropFromChunk(key, user, number, horizon_ms);
    user.gone_through = retention_.gone().back().recorded_ms;
    chunks = all.size();
  }
  for (; chunks < most_chunks && is_due(); ++chunks) {
    DropFromChunk(key, user, user.by_time.begin()->second, horizon_ms);
  }
  return chunks;
}

LargeUser* QuotaBook::OpenLarge(std::string_view key, int64_t now_ms, size_t most_chunks) {
  LargeUser* user = FindLarge(key);
  if (user == nullptr) return nullptr;
  IndexLarge(key, *user);
  DropFromLarge(key, *user, now_ms, most_chunks);
  if (user->lines >= LargeUser::kFewLines) return user;
  PackLarge(key);
  return nullptr;
}

void QuotaBook::CountLarge(std::string_view key, LargeUser& user, int64_t now_ms,
                           LeftCounters& counters) const {
  if (IsUnsettled(user)) {
    return ForEachKept(key, now_ms, [&](const PurchaseLine& line) { counters.Count(line); });
  }
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  IndexLarge(key, user);
  counters.SetBought([&](BookId sku, BookId action, int64_t after_ms, int64_t deleted_ms) {
    if (deleted_ms > user.ClearedThrough(sku, action)) return int64_t{0};
    return user.sums.SumAfter(sku, action, std::max(after_ms, horizon_ms));
  });
}

void QuotaBook::NoteTimesOfLarge(std::string_view key, LargeUser& user, int64_t now_ms,
                                 LeftCounters& counters) const {
  if (IsUnsettled(user)) {
    return ForEachKept(key, now_ms, [&](const PurchaseLine& line) { counters.NoteTime(line); });
  }
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  counters.SetTimes([&](BookId sku, BookId action, int64_t after_ms) {
    return user.sums.FirstAfter(sku, action, std::max(after_ms, horizon_ms));
  });
}

bool QuotaBook::LargeKnows(std::string_view key, const LargeUser& user, const QuotaId& order,
                           int64_t now_ms) const {
  std::vector<OpenChunk> found;
  return FindHome(key, user, order, retention_.Horizon(now_ms), found) != nullptr;
}

void QuotaBook::AppendToLarge(std::string_view key, LargeUser& user,
                              std::span<const PurchaseLine> lines) {
  TextUses uses;
  for (const PurchaseLine& line : lines) {
    uses.Add(line.sku, 1);
    uses.Add(line.action, 1);
    // Nothing that is recorded from now on may be mixed with what a deletion excludes.
    ForEachDeletion(line.sku, [&](BookId action, int64_t deleted_ms) {
      if (deleted_ms <= user.ClearedThrough(line.sku, action)) return;
      user.sums.Clear(line.sku, action);
      user.cleared[{line.sku, action}] = deleted_ms;
    });
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
    user.orders.insert({LargeUser::HashOf(line.order), chunks.back().number});
  }
  PutChunks(key, user, chunks);
}

QuotaBook::OpenUser QuotaBook::OpenOrder(const QuotaId& user_id, LargeUser& user,
                                         const QuotaId& order, int64_t now_ms) {
  OpenUser open{EntityKey(user_id), {}, 0, {}, {}, {}};
  const std::string_view key = open.key.view();
  const int64_t horizon_ms = retention_.Horizon(now_ms);
  for (const uint32_t number : user.ChunksOf(order)) {
    if (user.chunks[number] <= horizon_ms) DropFromChunk(key, user, number, horizon_ms);
  }
  for (const uint32_t number : user.ChunksOf(order)) {
    const OpenChunk& chunk = open.chunks.emplace_back(large_->Read(key, number));
    UserPurchases& all = open.purchases;
    const UserPurchases& part = chunk.purchases;
    all.lines.insert(all.lines.end(), part.lines.begin(), part.lines.end());
    all.returns.insert(all.returns.end(), part.returns.begin(), part.returns.end());
  }
  return open;
}

void QuotaBook::StoreOrder(OpenUser& open, LargeUser& user) {
  size_t at = 0;
  size_t known_returns = 0;
  std::vector<bool> changed;
  for (OpenChunk& chunk : open.chunks) {
    changed.push_back(false);
    known_returns += chunk.purchases.returns.size();
    for (PurchaseLine& line : chunk.purchases.lines) {
      const PurchaseLine& now = open.purchases.lines[at++];
      if (now.qty == line.qty) continue;
      user.TakeFromSums(line);
      line.qty = now.qty;
      user.AddToSums(line);
      changed.back() = true;
    }
  }
  TextUses uses;
  for (size_t i = known_returns; i < open.purchases.returns.size(); ++i) {
    const ReturnMark& mark = open.purchases.returns[i];
    uses.Add(mark.sku, 1);
    for (size_t c = 0; c < open.chunks.size(); ++c) {
      if (!HasOrder(open.chunks[c].purchases.lines, mark.order)) continue;
      open.chunks[c].purchases.returns.push_back(mark);
      changed[c] = true;
      break;
    }
  }
  std::vector<OpenChunk> chunks;
  for (size_t c = 0; c < open.chunks.size(); ++c) {
    if (changed[c]) chunks.push_back(std::move(open.chunks[c]));
  }
  ChangeUses(uses);
  PutChunks(open.key.view(), user, chunks);
}

bool QuotaBook::ResetLarge(std::string_view key, LargeUser& user, const BookActions& actions) {
  if (actions.all()) {
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
      if (resets == line.resets) continue;
      user.TakeFromSums(line);
      line.resets = resets;
      user.AddToSums(line);
      changed = true;
    }
    if (changed) PutChunks(key, user, {&chunk, 1});
    any_changed |= changed;
  }
  return any_changed;
}

bool QuotaBook::SweepLarge(int64_t now_ms, size_t& budget) {
  constexpr size_t kCostOfAChunk = LargeUser::kChunkLines;
  while (budget > 0) {
    if (large_ == nullptr) return false;
    const auto at = large_->users.lower_bound(large_->sweep_from);
    if (at == large_->users.end()) {
      large_->sweep_from.clear();
      if (large_->users.empty() && snapshot_ == nullptr) large_ = nullptr;
      return false;
    }
    const std::string key = at->first;
    const size_t most_chunks = budget / kCostOfAChunk + 1;
    const size_t chunks = DropFromLarge(key, *at->second, now_ms, most_chunks);
    budget -= std::min(budget, 1 + chunks * kCostOfAChunk);
    large_->sweep_from = key;
    if (chunks >= most_chunks) continue;
    large_->sweep_from.push_back('\0');
    if (at->second->lines < LargeUser::kFewLines) PackLarge(key);
  }
  return true;
}

}  // namespace tally
