// QUOTA: purchase limits by SKU and marketing action, and purchases.
//
// The effect of what has changed a book and not removed it is the same call with the same
// `judged_at` and retention, at any later time; an order that was applied is recorded, whatever the
// limits say. The effect of what has removed the book is its deletion, since a replay may still
// hold bytes that were swept away here.
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

  // What each call that may change a book says of it.
  struct Call {
    std::string_view book;
    int64_t judged_at = 0;                     // unix ms
    std::optional<int64_t> retention_ms = {};  // the least that the book keeps from now on, > 0
  };
  struct Outcome : KeyOutcome {
    bool retention_changed = false;  // also where nothing else has
  };

  Outcome SetLimits(const Call& call, std::span<const QuotaLimitSpec> limits);
  // Sets `deleted` to how many there were.
  Outcome DelLimits(const Call& call, std::span<const QuotaId> skus, const QuotaActions& actions,
                    size_t& deleted);
  // Sets `left` to what is left of each item's SKU. With `order.if_left` only if every limit leaves
  // room for all of it. As QuotaBook::Buy.
  Outcome Buy(const Call& call, const QuotaOrder& order, QuotaBook::BuyResult& result,
              QuotaLefts& left);
  // Sets `credited` to the quantity credited of each item.
  Outcome Return(const Call& call, const QuotaReturn& request, std::vector<int32_t>& credited);
  // Sets `reset` to the users of whom anything was forgotten.
  Outcome Reset(const Call& call, std::span<const QuotaId> users, const QuotaActions& actions,
                size_t& reset);

  // For everything that only reads: the book, null if the key is absent or of another type. Valid
  // until the engine next changes.
  const QuotaBook* Find(std::string_view book, KeyOutcome& outcome);

 private:
  // change(book) says whether it has changed the book; one that is made for it is kept only then.
  template <typename Change>
  Outcome Write(const Call& call, Change&& change);

  // Counts a purchase that was checked.
  void CountSale(const Call& call, const QuotaOrder& order, const QuotaBook::BuyResult& result);

  Place place_;
};

}  // namespace tally
