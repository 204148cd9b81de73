// The chunks of large users (large_user.h) in a quota book, and their indexes. Lives for one call.
#pragma once

#include <span>
#include <string_view>

#include "core/quota/book_data.h"

namespace tally {

// `key` is the user's in BookData::users. Texts of what is read are views into records that storing
// moves.
class LargeStore {
 public:
  explicit LargeStore(BookData& book) : book_(book) {}

  // Makes the indexes, if they are not there. They are made of what is stored, so a read may do so.
  void Index(std::string_view key, LargeUser& user) const;
  // Returns the user with indexes; null if there is none.
  LargeUser* Open(std::string_view key) const;
  // The lines and returns, with those that are gone.
  UserPurchases AllLines(std::string_view key, const LargeUser& user) const;
  // Whether a line of the order is kept.
  bool Knows(std::string_view key, const LargeUser& user, const QuotaId& order,
             const Retention::Moment& at) const;
  // Calls visit(line) for each line that is kept, in the order of recording.
  template <typename Visit>
  void ForEachKept(std::string_view key, const LargeUser& user, const Retention::Moment& at,
                   Visit visit) const {
    for (const auto& [number, earliest_ms] : user.chunks) {
      const std::string chunk_key = LargeUsers::ChunkKey(key, number);
      const RecordTable::Record record = book_.large->chunks.Find(chunk_key);
      for (PurchaseReader reader(record.payload()); reader.Next();) {
        if (book_.retention.Keeps(reader.line(), at)) visit(reader.line());
      }
    }
  }
  // Whether the retention has grown and what was gone before is still to be freed.
  bool IsUnsettled(const LargeUser& user) const;

  // Stores chunks; one without lines is erased.
  void Put(std::string_view key, LargeUser& user, std::span<OpenChunk> chunks);
  // Erases all chunks; the user must then be removed.
  void Erase(std::string_view key, LargeUser& user);

  // Stores a chunk of returns, or erases it if there are none.
  void PutMarks(std::string_view key, LargeUser& user, uint32_t number,
                std::span<const ReturnMark> marks);
  void AddMarks(std::string_view key, LargeUser& user, std::span<const ReturnMark> added);
  bool HasMark(std::string_view key, const LargeUser& user, const ReturnMark& mark) const;
  // Forgets the returns of an order. Takes the uses of texts that are gone from `uses`.
  void ForgetReturns(std::string_view key, LargeUser& user, const QuotaId& order, TextUses& uses);

 private:
  BookData& book_;
};

}  // namespace tally
