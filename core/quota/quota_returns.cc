// The returns of large users (large_user.h) in a QuotaBook.
#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "core/quota/quota_book.h"

namespace tally {

void QuotaBook::PutMarks(std::string_view key, LargeUser& user, uint32_t number,
                         std::span<const ReturnMark> marks) {
  // Texts of marks are views into records that storing moves.
  const std::string block = EncodeMarks(marks);
  const std::string chunk_key = LargeUsers::ChunkKey(key, number);
  RecordTable& table = large_->chunks;
  const uint64_t hash = table.Hash(chunk_key);
  BeforeChange(table, hash, chunk_key);
  const RecordTable::Record old = table.Find(chunk_key, hash);
  if (old) user.marks -= user.mark_chunks[number];
  if (marks.empty()) {
    table.Erase(old);
    user.mark_chunks.erase(number);
    return;
  }
  const RecordTable::Record record = Replace(table, old, chunk_key, hash, block.size());
  std::memcpy(record.data(), block.data(), block.size());
  user.mark_chunks[number] = marks.size();
  user.marks += marks.size();
}

void QuotaBook::AddMarks(std::string_view key, LargeUser& user, std::span<const ReturnMark> added) {
  while (!added.empty()) {
    uint32_t number = LargeUser::kMarks;
    std::vector<ReturnMark> marks;
    if (!user.mark_chunks.empty()) {
      number = user.mark_chunks.rbegin()->first;
      marks = large_->ReadMarks(key, number);
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
  large_->Account(user);
}

bool QuotaBook::LargeHasMark(std::string_view key, const LargeUser& user,
                             const ReturnMark& mark) const {
  for (const uint32_t number : LargeUser::NumbersOf(user.marks_by_hash, HashOf(mark))) {
    const std::vector<ReturnMark> marks = large_->ReadMarks(key, number);
    if (std::find(marks.begin(), marks.end(), mark) != marks.end()) return true;
  }
  return false;
}

void QuotaBook::ForgetReturns(std::string_view key, LargeUser& user, const QuotaId& order,
                              TextUses& uses) {
  const uint32_t hash = LargeUser::HashOf(order);
  for (const uint32_t number : LargeUser::NumbersOf(user.marks_by_order, hash)) {
    std::vector<ReturnMark> marks = large_->ReadMarks(key, number);
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
  large_->Account(user);
}

}  // namespace tally
