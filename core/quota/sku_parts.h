// SKUs with more limits than one record can hold: decoding and encoding all of them for each write
// would take too long.
//
// Their limits are in parts, blocks of about 32 limits (limit_block.h), each a record of its own,
// in the order of the actions. So a write changes one part. A part is known by its first action.
#pragma once

#include <absl/container/btree_set.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/quota/quota_id.h"
#include "core/table/record_table.h"

namespace tally {

struct SkuParts {
  // A SKU of more limits and deletions than this has parts, and one of at most kFewLimits has one
  // record again.
  static constexpr size_t kManyLimits = 128;
  static constexpr size_t kFewLimits = 32;
  // A part of more is cut into parts of kPartLimits; one of fewer than kSmallPart takes the next
  // one in, if both together have at most kPartLimits.
  static constexpr size_t kFullPart = 64;
  static constexpr size_t kPartLimits = 32;
  static constexpr size_t kSmallPart = 8;

  // The part that has, or would have, the limit of this action. There must be a part.
  BookId PartOf(BookId action) const;
  // The first action of the part after the one that begins with `first`.
  std::optional<BookId> After(BookId first) const;

  absl::btree_set<BookId> firsts;  // the first actions of the parts
  size_t limits = 0;               // and deletions, in all parts
};

// All such SKUs of a book.
struct PartedSkus {
  explicit PartedSkus(uint64_t seed) : parts(seed) {}

  // The key of a part: that of the SKU, and the first action.
  static std::string PartKey(std::string_view sku, BookId first);
  static std::string_view SkuOf(std::string_view part_key);

  SkuParts* Find(std::string_view sku) const;
  SkuParts& Add(std::string_view sku);
  void Remove(std::string_view sku) { skus.erase(skus.find(sku)); }

  // O(1).
  size_t MemoryBytes() const;
  // Frees about `segments` segments or SKUs, and returns true when none is left.
  bool FreeSome(size_t segments);
  // Without the records of the parts.
  std::unique_ptr<PartedSkus> Clone(uint64_t seed) const;

  RecordTable parts;
  std::map<std::string, std::unique_ptr<SkuParts>, std::less<>> skus;
};

}  // namespace tally
