// What a quota book does with the purchases of large users (large_user.h). Lives for one call.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/quota/book_data.h"
#include "core/quota/large_store.h"
#include "core/quota/left_counters.h"
#include "core/quota/open_user.h"

namespace tally {

// `key` is the user's in BookData::users.
class LargePurchases {
 public:
  explicit LargePurchases(BookData& book) : book_(book), store_(book) {}

  // Makes a user large, with all that is open.
  void Make(OpenUser& open);
  void Count(std::string_view key, LargeUser& user, int64_t now_ms, LeftCounters& counters) const;
  void NoteTimes(std::string_view key, LargeUser& user, int64_t now_ms,
                 LeftCounters& counters) const;
  // Records an order, whose lines these are.
  void Record(std::string_view key, LargeUser& user, const QuotaId& order,
              std::span<const PurchaseLine> lines, int64_t now_ms);
  // Opens the chunks that hold lines of the order.
  OpenUser OpenOrder(const QuotaId& user_id, LargeUser& user, const QuotaId& order,
                     int64_t now_ms) const;
  void StoreOrder(OpenUser& open);
  // Returns whether a line that is kept has changed.
  bool Reset(std::string_view key, LargeUser& user, const BookActions& actions,
             const Retention::Moment& at);
  // Makes the user's lines after now lines of now, and returns whether there were any.
  bool SetBack(std::string_view key, LargeUser& user, int64_t now_ms);

 private:
  // Whether the sums may have what is not kept, beside what is older than the horizon.
  bool IsBeyondSums(const LargeUser& user) const {
    return store_.IsUnsettled(user) ||
           (!user.held_sums.empty() && user.longest_hold_ms > book_.retention.length_ms());
  }
  // Calls change(line) for each line for which is_wanted(line), and stores it again. Returns
  // whether there was one.
  template <typename IsWanted, typename Change>
  bool ChangeLines(std::string_view key, LargeUser& user, IsWanted is_wanted, Change change);
  void Append(std::string_view key, LargeUser& user, std::span<const PurchaseLine> lines);

  BookData& book_;
  LargeStore store_;
};

}  // namespace tally
