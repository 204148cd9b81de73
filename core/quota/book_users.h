// The users of a quota book, large or not (large_user.h), and their purchases. Lives for one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/quota/book_data.h"
#include "core/quota/large_store.h"
#include "core/quota/left_counters.h"
#include "core/quota/open_user.h"

namespace tally {

class BookUsers {
 public:
  explicit BookUsers(BookData& book) : book_(book) {}

  // Opens the purchases of a user who is not large; there are none of one who is. `hash` is that of
  // the user's key in BookData::users.
  OpenUser Open(const QuotaId& user, uint64_t hash, int64_t now_ms) const;
  OpenUser Open(const QuotaId& user, int64_t now_ms) const;
  // Stores such a user, who may become large.
  void Store(OpenUser& user);
  // Opens the order of a user who is large, and all purchases of another one.
  OpenUser OpenOrder(const QuotaId& user, const QuotaId& order, int64_t now_ms) const;
  void StoreOrder(OpenUser& user, int64_t now_ms);

  // Calls visit(line) for each line of the user that is kept, in the order of recording.
  template <typename Visit>
  void ForEachKept(std::string_view key, int64_t now_ms, Visit visit) const {
    const Retention::Moment at = book_.retention.At(now_ms);
    if (const LargeUser* large = book_.FindLarge(key)) {
      return LargeStore(book_).ForEachKept(key, *large, at, visit);
    }
    const RecordTable::Record record = book_.users.Find(key);
    if (!record) return;
    for (PurchaseReader reader(record.payload()); reader.Next();) {
      if (book_.retention.Keeps(reader.line(), at)) visit(reader.line());
    }
  }

  // See QuotaBook::HasTooManyPurchases, ExpireUser, and Reset, here for one user.
  bool HasTooMany(std::span<const QuotaId> users) const;
  bool Expire(const QuotaId& user, int64_t now_ms);
  bool Reset(const QuotaId& user, const BookActions& actions, int64_t now_ms);
  // Makes the user's lines after now lines of now, and returns whether there were any.
  bool SetBack(const QuotaId& user, int64_t now_ms);
  // Must be called after a change of the retention, with its length from before.
  void SettleRetention(int64_t old_length_ms, int64_t now_ms);
  // Expires the users of a segment who have something to free.
  void Sweep(RecordTable::Segment& segment, int64_t now_ms, QuotaExpired* expired);

  // See QuotaBook::NextAhead.
  struct AheadCursor {
    bool is_large = false;
    uint64_t position = 0;   // of the users that are not large
    std::string large_from;  // the key from which on large users are looked at next
  };
  bool NextAhead(AheadCursor& cursor, int64_t now_ms, size_t count,
                 std::vector<std::string>& users) const;

 private:
  BookData& book_;
};

}  // namespace tally
