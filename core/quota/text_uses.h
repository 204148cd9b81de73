// By how much a change of some blocks changes the uses of the texts in a book's dictionary.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <vector>

#include "core/quota/limit_block.h"
#include "core/quota/purchase_block.h"
#include "core/quota/quota_id.h"

namespace tally {

class TextUses {
 public:
  void Add(BookId id, int64_t by) {
    if (id.is_text) [[unlikely]]
      changes_[id.value] += by;
  }
  void Add(const UserPurchases& user, int64_t by) {
    for (const PurchaseLine& line : user.lines) {
      Add(line.sku, by);
      Add(line.action, by);
    }
    for (const ReturnMark& mark : user.returns) Add(mark.sku, by);
  }
  // Of a SKU's record in the table of limits; none if there are no entries.
  void Add(BookId sku, const std::vector<LimitEntry>& entries, int64_t by) {
    if (!entries.empty()) Add(sku, by);
    for (const LimitEntry& entry : entries) Add(entry.action, by);
  }

  bool empty() const { return changes_.empty(); }
  // Number of a text, and by how much.
  const absl::flat_hash_map<int64_t, int64_t>& changes() const { return changes_; }

 private:
  absl::flat_hash_map<int64_t, int64_t> changes_;
};

}  // namespace tally
