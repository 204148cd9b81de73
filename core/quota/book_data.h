// What a quota book consists of: its records, the texts that they name by number, and what decides
// how long they are kept. Who changes a record does so through Put() and Erase(), so that a
// snapshot that is being taken gets it as it was.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/quota/book_snapshot.h"
#include "core/quota/large_user.h"
#include "core/quota/left_counters.h"
#include "core/quota/quota_id.h"
#include "core/quota/quota_types.h"
#include "core/quota/recording_order.h"
#include "core/quota/retention.h"
#include "core/quota/sku_parts.h"
#include "core/quota/text_dictionary.h"
#include "core/quota/text_uses.h"
#include "core/table/record_table.h"

namespace tally {

using BookIds = absl::InlinedVector<BookId, 8>;

// Sorts the ids and removes duplicates.
void LeaveDistinct(BookIds& ids);

struct BookData {
  BookData(uint64_t seed_in, int64_t min_retention_ms)
      : seed(seed_in), limits(seed), users(seed), retention(min_retention_ms) {}

  // Returns the book's own id. A text that the book does not know becomes number 0, which is in no
  // block.
  BookId Find(const QuotaId& id) const {
    return id.is_text() ? BookId(FindText(id.text()), true) : BookId(id.number());
  }
  BookActions Find(const QuotaActions& actions) const;
  // The same for an id that is about to be used: an unknown text gets a number.
  BookId FindOrAdd(const QuotaId& id);
  QuotaId NameOf(BookId id) const;
  void SortByName(BookIds& ids) const;
  // Counts how often records use texts; one that is used no more is forgotten.
  void ChangeUses(const TextUses& uses);
  // Counts one use in a record that is loaded. Returns false if the book cannot have such a text.
  [[nodiscard]] bool UseLoaded(BookId id);
  TextDictionary& OpenTexts();  // makes it if there is none
  PartedSkus& OpenParts();
  LargeUsers& OpenLarge();

  // Returns a record with this payload for the key in place of `old`, which may be none.
  RecordTable::Record Put(RecordTable& table, const RecordTable::Record& old, std::string_view key,
                          uint64_t hash, std::string_view payload);
  // Erases the record of the key, if there is one.
  void Erase(RecordTable& table, std::string_view key);

  bool HasPurchases() const {
    return !users.empty() || (large != nullptr && !large->users.empty());
  }
  // Null if there is no such user.
  LargeUser* FindLarge(std::string_view key) const {
    return large == nullptr ? nullptr : large->Find(key);
  }
  SkuParts* FindParts(std::string_view key) const {
    return parted == nullptr ? nullptr : parted->Find(key);
  }

  BookTables tables() const;
  void BeginSnapshot(RunSink sink);
  // Returns false when all is saved; the snapshot is then gone.
  bool SaveSnapshot();

  // Heap bytes, without those of a snapshot, and the size of the object itself. O(1).
  size_t MemoryBytes() const;
  // Frees about `segments` segments and returns true when none is left.
  bool FreeSome(size_t segments);
  // Returns equal data. Linear in its bytes.
  std::unique_ptr<BookData> Clone() const;

  const uint64_t seed;
  RecordTable limits;                     // sku -> limit block
  RecordTable users;                      // user -> purchase block
  std::unique_ptr<TextDictionary> texts;  // null if the book has none
  std::unique_ptr<PartedSkus> parted;     // null if the book has none
  std::unique_ptr<LargeUsers> large;      // null if the book has none
  Retention retention;
  RecordingOrder recording;
  size_t limit_count = 0;
  size_t most_limits = 0;     // no SKU has ever had more
  size_t purchase_count = 0;  // lines that are not freed yet
  bool any_holds = false;     // a line was held since the book was made or loaded
  std::unique_ptr<BookSnapshot> snapshot;
  uint64_t snapshots = 0;  // begun so far

 private:
  int64_t FindText(std::string_view text) const { return texts == nullptr ? 0 : texts->Find(text); }
  // Must be called before a record is inserted, changed or erased.
  void BeforeChange(const RecordTable& table, uint64_t hash, std::string_view key) {
    if (snapshot != nullptr && table.SegmentFor(hash).epoch < snapshot->epoch()) [[unlikely]]
      snapshot->BeforeChange(tables(), table, hash, key);
  }
  void BeforeTextChange(int64_t number);
};

}  // namespace tally
