// QUOTA: purchase limits by SKU and marketing action, and purchases.
//
// If a call has changed a book and not removed it, its effect is the same call with the same
// `judged_at_ms` and retention. It can be replayed at any later time. The effect of an order that
// was applied records it whatever the limits say. What a sweep frees is an effect too
// (Keyspace::Observer::OnSwept). If a call has removed the book, its effect is the deletion of the
// book.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/engine/place.h"
#include "core/quota/quota_book.h"

namespace tally {

class QuotaBooks {
 public:
  explicit QuotaBooks(const Place& place) : place_(place) {}

  // The arguments that all calls that may change a book have in common.
  struct WriteArgs {
    std::string_view book;
    int64_t judged_at_ms = 0;                  // unix ms
    std::optional<int64_t> retention_ms = {};  // the new minimum retention, > 0; nullopt: as before
    // Of when the call was judged: what is kept is decided so much earlier (Place::forget_at_ms).
    int64_t lag_ms = 0;
  };
  struct Outcome : KeyOutcome {
    bool retention_changed = false;  // may be true although `changed` is false
    // The call names several ids, and they have more limits or purchases than one call answers for
    // or visits (kMaxQuotaAnswer). Nothing is done then. What a replay says was done is done.
    bool too_much = false;
  };

  Outcome SetLimits(const WriteArgs& args, std::span<const QuotaLimitSpec> limits);
  // Sets `deleted` to the number of limits that were deleted.
  Outcome DelLimits(const WriteArgs& args, std::span<const QuotaId> skus,
                    const QuotaActions& actions, size_t& deleted);
  // Sets `left` to what is left of each item's SKU. If `order.if_left` is true, applies the order
  // only if every limit leaves room for all of it. See QuotaBook::Buy.
  Outcome Buy(const WriteArgs& args, const QuotaOrder& order, QuotaBook::BuyResult& result,
              QuotaLefts& left);
  Outcome Confirm(const WriteArgs& args, const QuotaId& user, const QuotaId& order,
                  QuotaBook::ConfirmResult& result);
  // Sets `credited` to the quantity credited of each item.
  Outcome Return(const WriteArgs& args, const QuotaReturn& request, std::vector<int32_t>& credited);
  // Sets `reset` to the number of users of whom anything was forgotten.
  Outcome Reset(const WriteArgs& args, std::span<const QuotaId> users, const QuotaActions& actions,
                size_t& reset);

  // QuotaBook::ExpireUser() of each, or ExpireLimits(), as effects of sweeping.
  void ExpireUsers(const WriteArgs& args, std::span<const QuotaId> users);
  void ExpireLimits(const WriteArgs& args, std::span<const QuotaId> skus);

  // Returns the book, for calls that only read; null if the key is absent or has another type.
  // Valid until the engine next changes.
  const QuotaBook* Find(std::string_view book, KeyOutcome& outcome);

 private:
  // Calls change(book), which returns whether it has changed the book, unless is_too_much(book). A
  // book that was created for the call is kept only if it was changed and is not empty.
  template <typename IsTooMuch, typename Change>
  Outcome Write(const WriteArgs& args, IsTooMuch&& is_too_much, Change&& change);

  // The book of an effect of sweeping; null if it is not there.
  QuotaBook* FindToExpire(const WriteArgs& args);

  // Counts an order that was checked against the limits, as sold or denied.
  void CountSale(const WriteArgs& args, const QuotaOrder& order,
                 const QuotaBook::BuyResult& result);

  Place place_;
};

}  // namespace tally
