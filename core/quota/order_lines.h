// The purchases of one order, from which its returns are credited.
#pragma once

#include <cstdint>
#include <vector>

#include "core/quota/purchase_block.h"
#include "core/quota/quota_id.h"

namespace tally {

// Refers to the lines that it was made of: they outlive it and stay where they are.
class OrderLines {
 public:
  // Finds the lines of `order`. O(lines + found log found).
  OrderLines(std::vector<PurchaseLine>& lines, const QuotaId& order);

  bool empty() const { return by_sku_.empty(); }

  // Takes up to `qty`, which is not negative, from the lines of the SKU, the first recorded one
  // first, and returns how much it took. O(log lines + lines of the SKU).
  int32_t Credit(BookId sku, int32_t qty);

 private:
  std::vector<PurchaseLine*> by_sku_;  // sorted by SKU, and within a SKU in the order of recording
};

}  // namespace tally
