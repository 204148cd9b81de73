// Collects by how much changed blocks change the uses of the texts in a book's dictionary.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
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
  // Adds the uses of a SKU's record, or of one of its parts. Without entries there is no record and
  // so no use.
  void Add(BookId sku, std::span<const LimitEntry> entries, int64_t by) {
    if (!entries.empty()) Add(sku, by);
    for (const LimitEntry& entry : entries) Add(entry.action, by);
  }

  bool empty() const { return changes_.empty(); }
  // The number of a text -> the change of its uses, which may be 0.
  const absl::flat_hash_map<int64_t, int64_t>& changes() const { return changes_; }

 private:
  absl::flat_hash_map<int64_t, int64_t> changes_;
};

}  // namespace tally
