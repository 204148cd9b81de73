// The counters behind `left`: the limits of a few SKUs, and what of a user's purchases counts for
// each of them. They live for one command.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/quota/limit_block.h"
#include "core/quota/purchase_block.h"
#include "core/quota/quota_types.h"

namespace tally {

class LeftCounters {
 public:
  explicit LeftCounters(int64_t now_ms) : now_ms_(now_ms) {}

  // Below so many, looking at each SKU in turn is faster than a binary search.
  static constexpr size_t kFewSkus = 8;

  // SKUs are added each once, and ascending where they are more than few, with the limits that are
  // set on them; deleted ones and actions outside of `actions` are passed over.
  void AddSku(int64_t sku, std::string_view limit_block, const QuotaActions& actions);

  // Counts a line that is recorded. O(log SKUs).
  void Count(const PurchaseLine& line);

  // Counts a line on trial. False if a limit that it falls under (its action's, or the total's) is
  // below zero with it.
  bool Try(const PurchaseLine& line);
  // Takes all lines on trial back.
  void GiveUp();

  // What is left for the SKU, which was added, ascending by action; kUnlimited where it has no
  // limit.
  void AppendLeft(int64_t sku, QuotaLefts& out) const;
  // Whether the SKU was added.
  bool Knows(int64_t sku) const { return Find(sku) != nullptr; }
  // Whether it has a counter at all.
  bool HasCounters(int64_t sku) const;

 private:
  struct Counter {
    int64_t action;
    int64_t limit;
    int64_t window_ms;
    int64_t deleted_ms;
    int64_t bought;
    int64_t trial;
  };
  struct Sku {
    int64_t sku;
    size_t begin;
    size_t end;
  };

  const Sku* Find(int64_t sku) const;
  bool Counts(const Counter& counter, const PurchaseLine& line) const;

  int64_t now_ms_;
  absl::InlinedVector<Sku, 8> skus_;
  absl::InlinedVector<Counter, 16> counters_;
};

}  // namespace tally
