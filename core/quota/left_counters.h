// The counters that `left` answers from: the limits of a few SKUs, and what of a user's purchases
// counts for each of them. They live for one command.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/quota/limit_block.h"
#include "core/quota/purchase_block.h"
#include "core/quota/quota_types.h"
#include "core/quota/text_dictionary.h"

namespace tally {

// The ACTIONS of a command as the book knows them: all, or some.
class BookActions {
 public:
  BookActions() = default;
  explicit BookActions(std::vector<BookId> listed);
  bool all() const { return all_; }
  bool Contains(BookId action) const { return all_ || Lists(action); }

 private:
  bool Lists(BookId action) const;

  bool all_ = true;
  std::vector<BookId> listed_;  // ascending
};

class LeftCounters {
 public:
  explicit LeftCounters(int64_t now_ms) : now_ms_(now_ms) {}

  // Below this many, looking at each SKU in turn is faster than a binary search.
  static constexpr size_t kFewSkus = 8;

  // SKUs are added each once, and ascending where they are more than few, with the limits that are
  // set on them; deleted ones and actions outside of `actions` are passed over.
  void AddSku(BookId sku, std::string_view limit_block, const BookActions& actions);

  // Counts a line that is recorded. O(log SKUs).
  void Count(const PurchaseLine& line);

  // Counts a line on trial. False if a limit that it falls under (its action's, or the total's) is
  // below zero with it.
  bool Try(const PurchaseLine& line);
  // Takes all lines on trial back.
  void GiveUp();

  // What is left for the SKU, ascending by action; kUnlimited where it has no limit. `name` is what
  // a caller calls the SKU, and `texts`, null if the book has none, those of its actions.
  void AppendLeft(BookId sku, const QuotaId& name, const TextDictionary* texts,
                  QuotaLefts& out) const;
  // Whether the SKU was added.
  bool Knows(BookId sku) const { return Find(sku) != nullptr; }
  // Whether it has a counter at all.
  bool HasCounters(BookId sku) const;

 private:
  struct Counter {
    BookId action;
    int64_t limit;
    int64_t window_ms;
    int64_t deleted_ms;
    int64_t bought;
    int64_t trial;
  };
  struct Sku {
    int64_t value;
    size_t begin;
    size_t end;
  };
  using Skus = absl::InlinedVector<Sku, 8>;

  static const Sku* Find(const Skus& skus, int64_t value);
  const Sku* Find(BookId sku) const {
    return sku.is_text ? Find(text_skus_, sku.value) : Find(skus_, sku.value);
  }
  bool Counts(const Counter& counter, const PurchaseLine& line) const;

  int64_t now_ms_;
  Skus skus_;
  Skus text_skus_;  // by the numbers of their texts
  absl::InlinedVector<Counter, 16> counters_;
};

}  // namespace tally
