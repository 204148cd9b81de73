// Sets, deletes, reads and forgets the limits of a quota book. Lives for one call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/quota/book_data.h"
#include "core/quota/entity_key.h"
#include "core/quota/limit_block.h"

namespace tally {

class BookLimits {
 public:
  explicit BookLimits(BookData& book) : book_(book) {}

  // See the functions of QuotaBook with these names. After Set the retention may have another
  // length, which is not settled.
  void Set(std::span<const QuotaLimitSpec> specs, int64_t now_ms);
  size_t Delete(std::span<const QuotaId> skus, const QuotaActions& actions, int64_t now_ms);
  bool Expire(const QuotaId& sku, int64_t now_ms);
  bool HasTooMany(std::span<const QuotaId> skus) const;
  bool HasTooMany(std::span<const QuotaItem> items) const;
  bool HasTooMany(std::span<const QuotaLimitSpec> specs) const;

  // Appends the SKU's limits for these actions, ascending by action.
  void AppendTo(std::vector<QuotaLimit>& out, BookId sku, const BookActions& actions) const;
  // The blocks of the SKU's limits, in the order of actions; valid until the book changes. `hash`
  // is that of the key in BookData::limits.
  LimitBlocks BlocksOf(const EntityKey& sku, uint64_t hash) const;
  LimitBlocks BlocksOf(BookId sku) const {
    const EntityKey key(sku);
    return BlocksOf(key, book_.limits.Hash(key.view()));
  }
  struct Deletion {
    BookId action;
    int64_t deleted_ms = 0;
  };
  std::vector<Deletion> DeletionsOf(BookId sku) const;

  // Calls Expire() for the SKUs of a segment of whole SKUs, or of parts, in which a deletion
  // excludes nothing any more.
  void Sweep(RecordTable::Segment& segment, bool of_parts, int64_t now_ms, QuotaExpired* expired);

  // For what is loaded. Adds a part, whose texts are counted already; returns false if the SKU has
  // actions in the same range.
  [[nodiscard]] bool AddPart(BookId sku, std::span<const LimitEntry> entries);
  // Cuts a SKU of many limits into parts.
  void Cut(BookId sku) { Store(Open(sku, kNoAction)); }

 private:
  // Limits of a SKU, decoded so that they can be changed and stored again: all of them, or those of
  // one part.
  struct OpenLimits {
    BookId sku;
    std::optional<BookId> part;  // its first action as it is stored
    std::vector<LimitEntry> entries;
  };

  // Opens those among which the limit of the action is, or would be.
  OpenLimits Open(BookId sku, BookId action) const;
  void Store(const OpenLimits& limits);
  void StorePart(const OpenLimits& limits, TextUses& uses);
  void PutParts(BookId sku, std::span<const LimitEntry> entries, size_t most_in_one,
                TextUses& uses);
  void ErasePart(BookId sku, BookId first, TextUses& uses);
  std::vector<LimitEntry> ReadPart(BookId sku, BookId first) const;
  void PutInto(RecordTable& table, std::string_view key, std::span<const LimitEntry> entries);
  // `limits` are of one SKU, whose block is read and stored once.
  void SetOfSku(std::span<const QuotaLimitSpec> limits, int64_t now_ms);
  void SetOne(LimitEntry& entry, const QuotaLimitSpec& spec, int64_t now_ms);
  size_t DeleteOf(BookId sku, const BookActions& actions, int64_t now_ms);
  size_t DeleteIn(OpenLimits limits, const BookActions& actions, int64_t now_ms);
  bool ExpireDeletions(OpenLimits limits, int64_t horizon_ms);
  // Whether the entry has a deletion that excludes nothing any more.
  bool HasVoidDeletion(const LimitEntry& entry, int64_t horizon_ms) const {
    return entry.deletion && (entry.deletion->until_ms <= horizon_ms || !book_.HasPurchases());
  }
  // A cheap first test; one SKU is never too much.
  bool MayHaveTooMany(size_t skus) const {
    return skus > 1 && book_.most_limits > kMaxQuotaAnswer / skus;
  }

  BookData& book_;
};

}  // namespace tally
