#include "core/quota/order_lines.h"

#include <algorithm>

namespace tally {

OrderLines::OrderLines(std::vector<PurchaseLine>& lines, const QuotaId& order) {
  for (PurchaseLine& line : lines) {
    if (line.order == order) by_sku_.push_back(&line);
  }
  std::stable_sort(by_sku_.begin(), by_sku_.end(),
                   [](const PurchaseLine* a, const PurchaseLine* b) { return a->sku < b->sku; });
}

int32_t OrderLines::Credit(BookId sku, int32_t qty) {
  int32_t wanted = qty;
  auto line = std::lower_bound(
      by_sku_.begin(), by_sku_.end(), sku,
      [](const PurchaseLine* candidate, BookId sought) { return candidate->sku < sought; });
  for (; line != by_sku_.end() && (*line)->sku == sku && wanted > 0; ++line) {
    const int32_t taken = std::min(wanted, (*line)->qty);
    (*line)->qty -= taken;
    wanted -= taken;
  }
  return qty - wanted;
}

}  // namespace tally
