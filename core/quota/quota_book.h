// Purchase limits by SKU and marketing action, and the purchases they are counted from.
//
//   left(sku, a) = limit(sku, a) - sum of the quantities that the user bought of the sku under a,
//   for a = 0 under any action; a purchase counts iff now < ts + the limit's current window.
//
// Where a rule needs more words:
//   * A book keeps purchases, not counters: a limit that is set later, or changed, counts what was
//     bought before it, under actions that had no limit too.
//   * Kept is what is younger than the longest window of the book's limits and than a minimum
//     (Retention). What is older is gone for every answer at once; its bytes follow when the user
//     next buys or returns, or in ExpireSome(). Reads write nothing.
//   * Deleting a limit excludes the purchases *recorded* until then from that (sku, action), for
//     good; their ts does not matter. Those recorded afterwards count, in the same millisecond too.
//   * A reset of some actions excludes the user's purchases recorded until then from the totals of
//     these actions: resetting 7 leaves the zero total, resetting 0 leaves that of 7.
//   * An order is known by its id as long as a line of it is kept, returned lines included, so that
//     a purchase that is delivered again after its return is not applied again.
//   * A return is remembered, whether it said ONCE or not, if it credited anything: one that came
//     before its order may be tried again. Lines of one SKU in one return are one return.
//
// Texts among the SKUs and actions are in a dictionary (text_dictionary.h), once for the book:
// blocks hold their numbers. A user's text is the key of the user's record, an order's is in it. A
// book without texts has the same bytes as if there could be none.
//
// Every operation is a function of the book, its arguments and `now_ms` alone. Buy and Return take
// the event's own time besides, which may lie before or after now: they are judged at now.
//
// Users and SKUs are records of packed bytes (purchase_block.h, limit_block.h) in two RecordTables,
// so no operation moves more than one segment of a table. Costs are linear in the purchases of the
// users and the limits of the SKUs named. Not thread-safe.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/container/inlined_vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/quota/entity_key.h"
#include "core/quota/left_counters.h"
#include "core/quota/limit_block.h"
#include "core/quota/purchase_block.h"
#include "core/quota/quota_types.h"
#include "core/quota/recording_order.h"
#include "core/quota/retention.h"
#include "core/quota/text_dictionary.h"
#include "core/quota/text_uses.h"
#include "core/table/record_table.h"

namespace tally {

inline constexpr int64_t kDefaultQuotaRetentionMs = int64_t{30} * 24 * 3600 * 1000;

struct QuotaOrder {
  QuotaId user;
  QuotaId order;
  std::span<const QuotaItem> items;
  int64_t ts_ms = 0;
  bool if_left = false;  // only if no item's limits are below zero after it
  bool once = false;     // only if the user has no order of that id
};

struct QuotaReturn {
  QuotaId user;
  QuotaId order;
  std::span<const QuotaReturnItem> items;
  int64_t ts_ms = 0;
  bool once = false;  // only items whose (order, sku, ts_ms) was not credited before
};

class QuotaBook {
 public:
  struct BuyResult {
    bool applied = false;
    size_t item = 0;        // 1-based, the first that does not fit; 0 if that was not the reason
    bool recorded = false;  // the book has changed: not so for an order that is too late to count
  };
  struct Stats {
    size_t limits = 0;
    size_t users = 0;      // with purchases; like `purchases`, including what is out of retention
    size_t purchases = 0;  // lines, and whose bytes are not freed yet
    size_t bytes = 0;
  };

  // `seed` keys the hashes; `min_retention_ms` > 0.
  explicit QuotaBook(uint64_t seed, int64_t min_retention_ms = kDefaultQuotaRetentionMs);
  QuotaBook(QuotaBook&&) noexcept = default;
  QuotaBook& operator=(QuotaBook&&) noexcept = default;

  // All of them in one step; the last one wins where a (sku, action) is there twice.
  void SetLimits(std::span<const QuotaLimitSpec> limits, int64_t now_ms);
  // Appends the limits of the SKU, ascending by action.
  void Limits(const QuotaId& sku, const QuotaActions& actions, std::vector<QuotaLimit>& out) const;
  // Returns how many there were.
  size_t DelLimits(std::span<const QuotaId> skus, const QuotaActions& actions, int64_t now_ms);

  // Sets `left` to what is left of each item's SKU, in the order of the items.
  BuyResult Buy(const QuotaOrder& order, int64_t now_ms, QuotaLefts& left);
  // Sets `credited` to the quantity credited of each item. False if the book has not changed.
  bool Return(const QuotaReturn& request, int64_t now_ms, std::vector<int32_t>& credited);

  // Sets `left` to what is left of each SKU at `at_ms`, in the order asked for. `prefetched` if
  // Prefetch() has just been called for it.
  void Left(const QuotaId& user, std::span<const QuotaId> skus, int64_t at_ms, int64_t now_ms,
            QuotaLefts& left, bool prefetched = false) const;
  // The same for each SKU, ascending, that the user has bought and not wholly returned and that has
  // a limit for one of `actions`.
  void LeftAll(const QuotaId& user, const QuotaActions& actions, int64_t now_ms,
               QuotaLefts& left) const;
  // Sets `lines` to what is kept of the user, in the order of recording.
  void History(const QuotaId& user, int64_t now_ms, std::vector<QuotaPurchase>& lines) const;

  // Forgets the user; with `actions` other than all, starts their counters from 0 instead. False if
  // the book has not changed.
  bool Reset(const QuotaId& user, const QuotaActions& actions, int64_t now_ms);

  int64_t min_retention_ms() const { return retention_.minimum_ms(); }
  void SetMinRetention(int64_t min_retention_ms, int64_t now_ms);

  // No limits and no purchases.
  bool Empty() const { return limit_count_ == 0 && users_.empty(); }
  Stats stats() const;
  // Heap bytes and the object itself. O(1).
  size_t MemoryBytes() const;

  // Frees what is out of retention, going on where the last call stopped, until it has looked at
  // about `budget` users and SKUs or the round is complete. Returns the purchases freed.
  size_t ExpireSome(int64_t now_ms, size_t budget);

  // Frees about `segments` segments (of up to 896 users or SKUs) and returns true when none is
  // left. After the first call the book may only be freed on or destroyed.
  bool FreeSome(size_t segments);

  // Fetches into the cache what calls that name these users and SKUs are going to read, so that
  // their misses overlap. Of no effect but on time; at most kMaxPrefetch of each.
  void Prefetch(std::span<const QuotaId> users, std::span<const QuotaId> skus) const;
  static constexpr size_t kMaxPrefetch = RecordTable::kMaxPrefetch;

  // An equal book. Linear in the book's bytes.
  QuotaBook Clone() const;

  // Appends one run of a snapshot, of about `max_bytes`, and returns the cursor of the next one; 0
  // begins and 0 ends. A run is read by Load() alone, in any order with the others of a snapshot.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // A snapshot of the book as it is now, taken while the book goes on changing: `sink` gets the
  // header at once, and then each segment of texts, SKUs or users with a call of SaveSnapshot(), or
  // just before it changes for the first time. The sink gets runs as Save() writes them, of about
  // 64 KiB. Ends a snapshot that was under way.
  using RunSink = std::function<void(std::string_view run)>;
  void BeginSnapshot(RunSink sink);
  // False when the sink has been given everything; then it is not used any more.
  bool SaveSnapshot();
  void EndSnapshot() { snapshot_ = nullptr; }

  // Adds a run to a book that had only runs of the same snapshot. False if it is malformed; the
  // book is then good for nothing but to be destroyed.
  [[nodiscard]] bool Load(std::string_view run);

 private:
  // A user taken out of the table to be changed.
  struct OpenUser {
    EntityKey key;
    RecordTable::Record record;
    size_t stored_lines = 0;
    UserPurchases purchases;  // without what is out of retention
    TextUses uses;            // what the stored block uses, taken off
  };

  // What BeginSnapshot() began. Segments whose epoch is lower are not saved yet, but for the
  // records that have changed since: what they were before was saved then, one by one, since a
  // segment for each change would leave little time for anything else.
  struct Snapshot {
    struct Part {
      explicit Part(char kind) : run(1, kind) {}
      absl::flat_hash_set<std::string> changed;  // keys in segments that are not saved
      std::string run;                           // of what they were
    };
    RunSink sink;
    uint64_t epoch = 0;
    size_t table = 0;  // of Tables()
    uint64_t position = 0;
    Part texts;
    Part limits;
    Part users;
    std::string run;
  };

  using Ids = absl::InlinedVector<BookId, 8>;

  // Hashes of what a call is going to look up.
  struct Places {
    uint64_t user;
    absl::InlinedVector<uint64_t, 8> skus;
  };

  // Hints the memory that the users and SKUs of these hashes are about to be looked up, step by
  // step for all of them.
  void Fetch(std::span<const uint64_t> users, std::span<const uint64_t> skus) const;
  // Where a call is going to look. Fetches it, unless that is done.
  Places Approach(const QuotaId& user, const Ids& skus, bool prefetched = false) const;
  OpenUser Open(const QuotaId& user, uint64_t hash, int64_t now_ms) const;
  OpenUser Open(const QuotaId& user, int64_t now_ms) const;
  void Store(OpenUser& user);
  // Gives the lines of an order that is recorded, the last ones, the numbers of their texts.
  void NameTexts(std::span<const QuotaItem> items, std::vector<PurchaseLine>& lines);
  void StoreLimits(BookId sku, const std::vector<LimitEntry>& entries);

  // What the book calls it: a text that the book does not know is 0, which is in no block.
  BookId Find(const QuotaId& id) const {
    return id.is_text() ? BookId(FindText(id.text()), true) : BookId(id.number());
  }
  int64_t FindText(std::string_view text) const;
  BookActions Find(const QuotaActions& actions) const;
  // The same of an id that is about to be used: a text gets a number.
  BookId FindOrAdd(const QuotaId& id);
  QuotaId NameOf(BookId id) const;
  void SortByName(Ids& ids) const;
  TextDictionary& Texts();
  void BeforeTextChange(int64_t number);
  void ChangeUses(const TextUses& uses);
  [[nodiscard]] bool UseLoaded(BookId id);

  // To be called before a record changes or comes to be.
  void BeforeChange(const RecordTable& table, uint64_t hash, std::string_view key) {
    if (snapshot_ != nullptr && table.SegmentFor(hash).epoch < snapshot_->epoch) [[unlikely]]
      SaveBeforeChange(table, hash, key);
  }
  void SaveBeforeChange(const RecordTable& table, uint64_t hash, std::string_view key);
  // The book's tables in the order in which they are saved; null for texts that it has not.
  std::array<const RecordTable*, 3> Tables() const;
  void SaveSegment(const RecordTable& table, RecordTable::Segment& segment);
  Snapshot::Part& PartOf(const RecordTable& table);
  void SaveHeader(std::string& out) const;
  void SettleRetention(int64_t old_length_ms, int64_t now_ms);
  void SetLimit(const QuotaLimitSpec& spec, int64_t now_ms);
  size_t DelLimitsOf(BookId sku, const BookActions& actions, int64_t now_ms);
  void AddSkus(const Ids& skus, const Places& places, const BookActions& actions,
               LeftCounters& counters) const;
  size_t SweepUsers(RecordTable::Segment& segment, int64_t horizon_ms, int64_t now_ms);
  void SweepLimits(RecordTable::Segment& segment, int64_t horizon_ms);

  bool LoadHeader(std::string_view in);
  bool LoadTexts(std::string_view in);
  bool LoadLimits(std::string_view in);
  bool LoadUsers(std::string_view in);

  RecordTable limits_;                     // sku -> limit block
  RecordTable users_;                      // user -> purchase block
  std::unique_ptr<TextDictionary> texts_;  // null if the book has none
  size_t limit_count_ = 0;
  size_t purchase_count_ = 0;
  Retention retention_;
  RecordingOrder recording_;
  uint64_t seed_;
  std::unique_ptr<Snapshot> snapshot_;
  uint64_t snapshot_epoch_ = 0;
  uint64_t sweep_position_ = 0;
  bool sweeping_limits_ = false;
};

}  // namespace tally
