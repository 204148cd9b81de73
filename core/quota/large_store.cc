#include "core/quota/large_store.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/quota/book_limits.h"

namespace tally {

bool LargeStore::IsUnsettled(const LargeUser& user) const {
  return !book_.retention.gone().empty() &&
         book_.retention.gone().back().recorded_ms > user.gone_through_ms;
}

void LargeStore::Index(std::string_view key, LargeUser& user) const {
  if (user.indexed) return;
  user.indexed = true;
  user.cleared.clear();
  absl::flat_hash_set<BookId> skus;
  std::vector<std::pair<uint32_t, uint32_t>> orders;
  std::vector<QuantitySums::Entry> entries;
  std::vector<QuantitySums::Entry> held;
  for (const auto& [number, earliest_ms] : user.chunks) {
    for (const PurchaseLine& line : book_.large->Read(key, number).purchases.lines) {
      orders.emplace_back(LargeUser::HashOf(line.order), number);
      user.latest_ms = std::max({user.latest_ms, line.ts_ms, line.held_at_ms});
      if (skus.insert(line.sku).second) {
        for (const BookLimits::Deletion& one : BookLimits(book_).DeletionsOf(line.sku)) {
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
    for (const ReturnMark& mark : book_.large->ReadMarks(key, number)) user.IndexMark(mark, number);
  }
  user.sums.Assign(std::move(entries));
  user.held_sums.Assign(std::move(held));
  book_.large->Account(user);
}

LargeUser* LargeStore::Open(std::string_view key) const {
  LargeUser* user = book_.FindLarge(key);
  if (user != nullptr) Index(key, *user);
  return user;
}

// The lines of a large user, with the ones that are gone.
UserPurchases LargeStore::AllLines(std::string_view key, const LargeUser& user) const {
  UserPurchases all;
  for (const auto& [number, earliest_ms] : user.chunks) {
    const UserPurchases part = book_.large->Read(key, number).purchases;
    all.lines.insert(all.lines.end(), part.lines.begin(), part.lines.end());
  }
  for (const auto& [number, count] : user.mark_chunks) {
    const std::vector<ReturnMark> part = book_.large->ReadMarks(key, number);
    all.returns.insert(all.returns.end(), part.begin(), part.end());
  }
  return all;
}

bool LargeStore::Knows(std::string_view key, const LargeUser& user, const QuotaId& order,
                       const Retention::Moment& at) const {
  const std::vector<uint32_t> numbers = user.ChunksOf(order);
  // The latest is kept longest.
  return std::any_of(numbers.rbegin(), numbers.rend(), [&](uint32_t number) {
    const OpenChunk chunk = book_.large->Read(key, number);
    const std::vector<PurchaseLine>& lines = chunk.purchases.lines;
    return std::any_of(lines.begin(), lines.end(), [&](const PurchaseLine& line) {
      return line.order == order && book_.retention.Keeps(line, at);
    });
  });
}

void LargeStore::Put(std::string_view key, LargeUser& user, std::span<OpenChunk> chunks) {
  // All are encoded before one is stored: their texts are views into records that storing moves.
  for (OpenChunk& chunk : chunks) {
    if (!chunk.purchases.lines.empty()) EncodePurchases(chunk.purchases, chunk.block);
  }
  RecordTable& table = book_.large->chunks;
  for (const OpenChunk& chunk : chunks) {
    const std::string chunk_key = LargeUsers::ChunkKey(key, chunk.number);
    const uint64_t hash = table.Hash(chunk_key);
    const RecordTable::Record old = table.Find(chunk_key, hash);
    const std::vector<PurchaseLine>& lines = chunk.purchases.lines;
    user.lines += lines.size();
    user.lines -= chunk.stored_lines;
    book_.purchase_count += lines.size();
    book_.purchase_count -= chunk.stored_lines;
    if (lines.empty()) {
      if (!old) continue;
      book_.Erase(table, chunk_key);
      user.RemoveChunk(chunk.number);
      continue;
    }
    book_.Put(table, old, chunk_key, hash, chunk.block);
    user.SetChunk(chunk.number, lines);
  }
  book_.large->Account(user);
}

void LargeStore::Erase(std::string_view key, LargeUser& user) {
  RecordTable& table = book_.large->chunks;
  for (const auto& [number, earliest_ms] : user.chunks) {
    book_.Erase(table, LargeUsers::ChunkKey(key, number));
  }
  for (const auto& [number, count] : user.mark_chunks) {
    book_.Erase(table, LargeUsers::ChunkKey(key, number));
  }
  book_.purchase_count -= user.lines;
}

void LargeStore::PutMarks(std::string_view key, LargeUser& user, uint32_t number,
                          std::span<const ReturnMark> marks) {
  // Texts of marks are views into records that storing moves.
  const std::string block = EncodeMarks(marks);
  const std::string chunk_key = LargeUsers::ChunkKey(key, number);
  RecordTable& table = book_.large->chunks;
  const uint64_t hash = table.Hash(chunk_key);
  const RecordTable::Record old = table.Find(chunk_key, hash);
  if (old) user.marks -= user.mark_chunks[number];
  if (marks.empty()) {
    book_.Erase(table, chunk_key);
    user.mark_chunks.erase(number);
    return;
  }
  book_.Put(table, old, chunk_key, hash, block);
  user.mark_chunks[number] = marks.size();
  user.marks += marks.size();
}

void LargeStore::AddMarks(std::string_view key, LargeUser& user,
                          std::span<const ReturnMark> added) {
  while (!added.empty()) {
    uint32_t number = LargeUser::kMarks;
    std::vector<ReturnMark> marks;
    if (!user.mark_chunks.empty()) {
      number = user.mark_chunks.rbegin()->first;
      marks = book_.large->ReadMarks(key, number);
    }
    if (marks.size() >= LargeUser::kChunkLines) {
      ++number;
      marks.clear();
    }
    const size_t count = std::min(LargeUser::kChunkLines - marks.size(), added.size());
    marks.insert(marks.end(), added.begin(), added.begin() + static_cast<ptrdiff_t>(count));
    if (user.indexed) {
      for (const ReturnMark& mark : added.first(count)) user.IndexMark(mark, number);
    }
    PutMarks(key, user, number, marks);
    added = added.subspan(count);
  }
  book_.large->Account(user);
}

bool LargeStore::HasMark(std::string_view key, const LargeUser& user,
                         const ReturnMark& mark) const {
  for (const uint32_t number : LargeUser::NumbersOf(user.marks_by_hash, HashOf(mark))) {
    const std::vector<ReturnMark> marks = book_.large->ReadMarks(key, number);
    if (std::find(marks.begin(), marks.end(), mark) != marks.end()) return true;
  }
  return false;
}

void LargeStore::ForgetReturns(std::string_view key, LargeUser& user, const QuotaId& order,
                               TextUses& uses) {
  const uint32_t hash = LargeUser::HashOf(order);
  for (const uint32_t number : LargeUser::NumbersOf(user.marks_by_order, hash)) {
    std::vector<ReturnMark> marks = book_.large->ReadMarks(key, number);
    bool others_have_hash = false;
    std::vector<uint32_t> hashes;
    const auto is_of_order = [&](const ReturnMark& mark) {
      if (mark.order == order) {
        uses.Add(mark.sku, -1);
        hashes.push_back(HashOf(mark));
        return true;
      }
      others_have_hash |= LargeUser::HashOf(mark.order) == hash;
      return false;
    };
    if (std::erase_if(marks, is_of_order) == 0) continue;
    for (const uint32_t gone : hashes) user.marks_by_hash.erase({gone, number});
    // Marks that share a hash with one that is gone are still there.
    for (const ReturnMark& mark : marks) user.marks_by_hash.insert({HashOf(mark), number});
    if (!others_have_hash) user.marks_by_order.erase({hash, number});
    PutMarks(key, user, number, marks);
  }
  book_.large->Account(user);
}

}  // namespace tally
