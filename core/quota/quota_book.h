// Purchase limits by SKU and marketing action, and the purchases they are counted from.
//
//   left(sku, a) = limit(sku, a) - sum of the quantities of the sku that the user bought under a,
//   or under any action if a is 0; at least 0. A purchase counts iff now < ts + the limit's current
//   window.
//
// Rules that need more words:
//   * A book keeps purchases, not counters. So a limit that is set or changed later also counts
//     what was bought before, even under actions that had no limit.
//   * The book keeps purchases that are younger than the longest window of its limits, and at least
//     for a minimum time (Retention). Older ones are gone for every answer at once. Their bytes are
//     freed when the user's record is next written, or by ExpireSome(). Nothing else frees them:
//     not a read, and not a call that has changed nothing. So who has done the same changes and
//     expiries has the same bytes, which matters when a clock is set back.
//   * Deleting a limit excludes the purchases that were *recorded* until then from that (sku,
//     action) for good; their ts does not matter. Purchases recorded afterwards count, even in the
//     same millisecond.
//   * A reset of some actions excludes the user's purchases that were recorded until then from the
//     totals of these actions: resetting 7 does not change the total over all actions, and
//     resetting 0 does not change the total of 7.
//   * An order is known by its id as long as a line of it is kept, even if all of the line was
//     returned. So a purchase that is delivered again after its return is not applied again.
//   * The lines of an order that is held count until the hold ends, in every window, and are gone
//     then, like a purchase that is too old, unless Confirm() made them purchases before. A hold
//     that ends later than its lines are kept ends with them.
//   * A return that credited anything is remembered, with ONCE or without. One that credited
//     nothing, because it came before its order, may be tried again. All lines of one SKU in one
//     return are one return.
//
// Texts among the SKUs and actions are in a dictionary (text_dictionary.h), each once for the whole
// book; blocks hold their numbers. A user's text is in the key of the user's record, and an order's
// text is in its payload. A book without texts needs no extra bytes.
//
// The result of every operation depends only on the book, its arguments and `now_ms`. Buy and
// Return also take the time of the event; what counts and what is kept is decided at `now_ms`. A
// purchase after now is one of now. If one is stored, the clock was set back since: it is read as
// one of now, and the user's next Buy, refused or not, makes it so for good. So it counts for no
// longer than a window from then on, and a hold no longer than it was asked for. Until then
// NextAhead() finds it.
//
// Users and SKUs are records of packed bytes (purchase_block.h, limit_block.h) in two RecordTables,
// so no operation moves more than one segment of a table. A user of more than 128 purchases is
// large (large_user.h): Buy() and Left() take O(log purchases) for such a user, and Return()
// O(lines and returns of the order). LeftAll(), ForEachPurchase() and Reset() are linear in the
// purchases of the users. A SKU of more than 128 limits is in parts (sku_parts.h): SetLimits(), and
// DelLimits() of listed actions, take O(log limits) for each limit; all else is linear in the
// limits of the named SKUs. Not thread-safe.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/run_sink.h"
#include "core/quota/entity_key.h"
#include "core/quota/large_user.h"
#include "core/quota/left_counters.h"
#include "core/quota/limit_block.h"
#include "core/quota/purchase_block.h"
#include "core/quota/quota_types.h"
#include "core/quota/recording_order.h"
#include "core/quota/retention.h"
#include "core/quota/sku_parts.h"
#include "core/quota/text_dictionary.h"
#include "core/quota/text_uses.h"
#include "core/table/record_table.h"
#include "core/table/table_snapshot.h"

namespace tally {

inline constexpr int64_t kDefaultQuotaRetentionMs = int64_t{30} * 24 * 3600 * 1000;

struct QuotaOrder {
  QuotaId user;
  QuotaId order;
  std::span<const QuotaItem> items;
  int64_t ts_ms = 0;
  bool if_left = false;     // apply it only if it exceeds no limit of its items
  bool once = false;        // apply it only if the user has no order with this id
  bool is_answered = true;  // whether the caller asks what is left
  int64_t hold_ms = 0;      // for how long it is held from now on; 0: it is a purchase at once
};

struct QuotaReturn {
  QuotaId user;
  QuotaId order;
  std::span<const QuotaReturnItem> items;
  int64_t ts_ms = 0;
  bool once = false;  // credit only items whose (order, sku, ts_ms) was not credited before
};

class QuotaBook {
 public:
  struct BuyResult {
    bool applied = false;
    size_t item = 0;        // if if_left refused: the first item that does not fit, from 1; else 0
    bool recorded = false;  // the order is in the book; false if it is too late to count
    bool set_back = false;  // purchases after now were made ones of now: the book has changed too
  };
  struct Stats {
    size_t limits = 0;
    size_t users = 0;      // with lines that are not freed yet
    size_t purchases = 0;  // lines that are not freed yet, in or out of retention
    size_t bytes = 0;
  };

  // `seed` keys the hashes; `min_retention_ms` > 0 (asserted).
  explicit QuotaBook(uint64_t seed, int64_t min_retention_ms = kDefaultQuotaRetentionMs);
  QuotaBook(QuotaBook&&) noexcept = default;
  QuotaBook& operator=(QuotaBook&&) noexcept = default;

  // Sets all limits in one step; if a (sku, action) is there twice, the last one wins. Asserts
  // limit >= 0 and window_ms > 0.
  void SetLimits(std::span<const QuotaLimitSpec> specs, int64_t now_ms);
  // Calls visit(limits) for each SKU, in order, with its limits for these actions, ascending by
  // action.
  template <typename Visit>
  void Limits(std::span<const QuotaId> skus, const QuotaActions& actions, Visit visit) const {
    const BookActions listed = Find(actions);
    std::vector<QuotaLimit> limits;
    for (const QuotaId& sku : skus) {
      limits.clear();
      AppendLimits(Find(sku), listed, limits);
      visit(std::span<const QuotaLimit>(limits));
    }
  }
  // Whether these SKUs, each as often as it is there, have more limits than one call answers for
  // (kMaxQuotaAnswer).
  bool HasTooManyLimits(std::span<const QuotaId> skus) const;
  bool HasTooManyLimits(std::span<const QuotaItem> items) const;
  // Of these a SKU is counted once, however many of its limits are there.
  bool HasTooManyLimits(std::span<const QuotaLimitSpec> specs) const;
  // Whether these users have more purchases than one call visits.
  bool HasTooManyPurchases(std::span<const QuotaId> users) const;
  // Returns how many limits were deleted.
  size_t DelLimits(std::span<const QuotaId> skus, const QuotaActions& actions, int64_t now_ms);

  // Sets `left` to what is left of each item's SKU afterwards, in the order of the items, if that
  // is asked.
  BuyResult Buy(const QuotaOrder& order, int64_t now_ms, QuotaLefts& left);
  // Sets `credited` to the quantity credited for each item. Returns false if the book has not
  // changed.
  bool Return(const QuotaReturn& request, int64_t now_ms, std::vector<int32_t>& credited);

  struct ConfirmResult {
    bool bought = false;   // some of the order is a purchase now
    bool changed = false;  // it was held until now
  };
  // Makes what is held of an order purchases of when it was bought.
  ConfirmResult Confirm(const QuotaId& user, const QuotaId& order, int64_t now_ms);

  // Sets `left` to what is left of each SKU at `at_ms`, in the order of `skus`. `prefetched` says
  // that Prefetch() has just been called for the user and the SKUs.
  void Left(const QuotaId& user, std::span<const QuotaId> skus, int64_t at_ms, int64_t now_ms,
            QuotaLefts& left, bool prefetched = false) const;
  // The same at `now_ms` for each user, and each SKU, ascending, that the user has bought and not
  // wholly returned and that has a limit for one of `actions`. Gives only the limits for these
  // actions. Returns false if that is more than one call answers for (kMaxQuotaAnswer).
  [[nodiscard]] bool LeftAll(std::span<const QuotaId> users, const QuotaActions& actions,
                             int64_t now_ms, QuotaUserLefts& left) const;
  // Calls visit(uses) for each SKU, in order, with its limits and what the user has used of them.
  template <typename Visit>
  void Uses(const QuotaId& user, std::span<const QuotaId> skus, int64_t now_ms, Visit visit) const {
    LeftCounters counters(now_ms);
    CountUses(user, skus, now_ms, counters);
    std::vector<QuotaUse> uses;
    for (const QuotaId& sku : skus) {
      uses.clear();
      counters.AppendUses(Find(sku), texts_.get(), uses);
      visit(std::span<const QuotaUse>(uses));
    }
  }
  // Calls visit(purchase) for each line that is kept for the user, in the order of recording.
  template <typename Visit>
  void ForEachPurchase(const QuotaId& user, int64_t now_ms, Visit visit) const {
    ForEachKept(EntityKey(user).view(), now_ms, [&](const PurchaseLine& line) {
      visit(QuotaPurchase{line.order, NameOf(line.sku), NameOf(line.action), line.qty,
                          std::min(line.ts_ms, now_ms),
                          line.is_held() ? line.HeldUntil(now_ms) : 0});
    });
  }

  // Forgets the users if `actions` is all; otherwise starts their totals of these actions from 0.
  // Returns of how many of them this has changed a line that is kept.
  size_t Reset(std::span<const QuotaId> users, const QuotaActions& actions, int64_t now_ms);

  // What is kept is decided at `now_ms` minus this lag from now on; 0 at first. It is not part of
  // the book's state: who may have another lag sets it before each call. For a host whose clock has
  // jumped forward and may be set back.
  void SetRetentionLag(int64_t lag_ms) { retention_.set_lag_ms(lag_ms); }
  int64_t min_retention_ms() const { return retention_.minimum_ms(); }
  void SetMinRetention(int64_t min_retention_ms, int64_t now_ms);

  // Whether there are no limits and no purchases.
  bool Empty() const { return limit_count_ == 0 && !HasPurchases(); }
  Stats stats() const;
  // Heap bytes, without those of a snapshot in progress, and the size of the object itself. O(1).
  size_t MemoryBytes() const;

  // Frees what is out of retention. Continues where the last call stopped, until it has looked at
  // about `budget` users and SKUs or the round over both tables is complete. Returns the number of
  // purchases freed, and appends to `expired`, if it is not null, whom and what the next two were
  // called for.
  size_t ExpireSome(int64_t now_ms, size_t budget, QuotaExpired* expired = nullptr);
  // Frees what is out of retention of a user; of a large one the oldest chunks. Returns whether
  // anything has changed.
  bool ExpireUser(const QuotaId& user, int64_t now_ms);
  // Frees what is remembered of deleted limits of the SKU and excludes nothing any more. Returns
  // whether anything has changed.
  bool ExpireLimits(const QuotaId& sku, int64_t now_ms);

  // Frees about `segments` segments (of up to 896 users, SKUs or texts) and returns true when none
  // is left. After the first call, only FreeSome() and the destructor may be called.
  bool FreeSome(size_t segments);

  // Whether purchases after now may be stored: the clock was set back since. They are rare, and so
  // is what looks for them.
  bool MayBeAhead(int64_t now_ms) const { return recording_.LatestInstant() > now_ms; }
  // Where NextAhead() goes on; it begins with a new one.
  struct AheadCursor {
    bool is_large = false;
    uint64_t position = 0;   // of the users that are not large
    std::string large_from;  // the key from which on large users are looked at next
  };
  // Looks at the next `count` users or so. Appends those who have purchases after now, as the texts
  // of their ids. Returns false at the end. A user who is in the book all the time is found.
  bool NextAhead(AheadCursor& cursor, int64_t now_ms, size_t count,
                 std::vector<std::string>& users) const;

  // Prefetches into the cache what calls for these users and SKUs will read, so that their cache
  // misses overlap. Changes nothing but speed. At most kMaxPrefetch of each (asserted).
  void Prefetch(std::span<const QuotaId> users, std::span<const QuotaId> skus) const;
  static constexpr size_t kMaxPrefetch = RecordTable::kMaxPrefetch;

  // Makes the indexes of the next large user, which its first command would make otherwise. Returns
  // false when there is none left.
  bool PrepareNext();

  // Stores every large user as the others are, for callers that compare what books hold.
  void PackLargeUsers();

  // Returns an equal book. Linear in the book's bytes.
  QuotaBook Clone() const;

  // Appends one run of a snapshot, of about `max_bytes` bytes, and returns the cursor of the next
  // run. Cursor 0 begins a snapshot, and a returned 0 ends it. Load() reads each run by itself, and
  // the runs of a snapshot in any order.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Takes a snapshot of the book as it is now, while the book goes on changing. `sink` gets the
  // header at once and a segment of texts, SKUs or users with each call of SaveSnapshot(). If a
  // record changes before its segment is saved, its old state is saved first (see TableSnapshot).
  // The runs are like those of Save(), of about 64 KiB. Ends a snapshot that is in progress.
  void BeginSnapshot(RunSink sink);
  // Returns false when the sink has got everything; the sink is then not used any more.
  bool SaveSnapshot();
  void EndSnapshot() { snapshot_ = nullptr; }

  // Adds a run to a book that has only got runs of the same snapshot. Returns false if the run is
  // malformed; the book must then be destroyed.
  [[nodiscard]] bool Load(std::string_view run);

 private:
  // A user, decoded so that it can be changed and stored again.
  struct OpenUser {
    EntityKey key;
    RecordTable::Record record;
    size_t stored_lines = 0;
    UserPurchases purchases;  // without what is out of retention
    TextUses uses;            // minus the uses of the stored block; Store() adds the new ones
    // Of OpenOrder(): their lines that are kept at that moment are the purchases, without the
    // returns that were known.
    std::vector<OpenChunk> chunks;
    Retention::Moment at;
  };

  struct Snapshot {
    struct Part {
      TableSnapshot records;
      std::string run;  // begun with its kind
    };
    RunSink sink;
    uint64_t epoch = 0;
    std::array<Part, 5> parts;  // of Tables()
    size_t next = 0;            // the part whose turn it is
  };

  using Ids = absl::InlinedVector<BookId, 8>;
  // Sorts the ids and removes duplicates.
  static void LeaveDistinct(Ids& ids);
  // A cheap first test; one SKU is never too much.
  bool MayHaveTooManyLimits(size_t skus) const {
    return skus > 1 && most_limits_ > kMaxQuotaAnswer / skus;
  }

  // Hashes of the user and the SKUs that a call is going to look up.
  struct Places {
    uint64_t user;
    absl::InlinedVector<uint64_t, 8> skus;
  };

  // Prefetches the users and SKUs with these hashes into the cache. Does each step of the lookup
  // for all of them before the next step, so that the cache misses overlap.
  void Fetch(std::span<const uint64_t> users, std::span<const uint64_t> skus) const;
  // Returns the hashes that a call is going to look up, and prefetches them unless `prefetched`.
  Places Approach(const QuotaId& user, const Ids& skus, bool prefetched = false) const;
  OpenUser Open(const QuotaId& user, uint64_t hash, int64_t now_ms) const;
  OpenUser Open(const QuotaId& user, int64_t now_ms) const;
  void Store(OpenUser& user);
  // These make the user's lines after now lines of now, and return whether there were any.
  bool SetBack(const QuotaId& user, int64_t now_ms);
  bool SetBackLarge(std::string_view key, LargeUser& user, int64_t now_ms);
  void SetBackLine(PurchaseLine& line, int64_t now_ms);
  // Returns a record of `size` bytes for the key in place of `old`, which may be none.
  static RecordTable::Record Replace(RecordTable& table, const RecordTable::Record& old,
                                     std::string_view key, uint64_t hash, size_t size);
  // Sets the SKUs and actions of the order that is being recorded, the last items.size() lines.
  // Adds its new texts to the dictionary.
  void NameTexts(std::span<const QuotaItem> items, std::vector<PurchaseLine>& lines);

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
  SkuParts* FindParts(std::string_view key) const {
    return parted_ == nullptr ? nullptr : parted_->Find(key);
  }
  // The blocks of the SKU's limits, in the order of actions; valid until the book changes.
  LimitBlocks BlocksOf(const EntityKey& key, uint64_t hash) const;
  LimitBlocks BlocksOf(BookId sku) const {
    const EntityKey key(sku);
    return BlocksOf(key, limits_.Hash(key.view()));
  }
  RecordTable::Segment* NextToSweep();

  // Returns the book's own id. A text that the book does not know becomes number 0, which is in no
  // block.
  BookId Find(const QuotaId& id) const {
    return id.is_text() ? BookId(FindText(id.text()), true) : BookId(id.number());
  }
  int64_t FindText(std::string_view text) const;
  BookActions Find(const QuotaActions& actions) const;
  // The same for an id that is about to be used: an unknown text gets a number.
  BookId FindOrAdd(const QuotaId& id);
  QuotaId NameOf(BookId id) const;
  void SortByName(Ids& ids) const;
  TextDictionary& Texts();
  void BeforeTextChange(int64_t number);
  void ChangeUses(const TextUses& uses);
  [[nodiscard]] bool UseLoaded(BookId id);

  // Must be called before a record is inserted, changed or erased.
  void BeforeChange(const RecordTable& table, uint64_t hash, std::string_view key) {
    if (snapshot_ != nullptr && table.SegmentFor(hash).epoch < snapshot_->epoch) [[unlikely]]
      SaveBeforeChange(table, hash, key);
  }
  void SaveBeforeChange(const RecordTable& table, uint64_t hash, std::string_view key);
  // The tables of texts, SKUs, parts of SKUs, users and chunks of large users, in the order in
  // which they are saved; null if the book has no texts, parts or large users.
  std::array<const RecordTable*, 5> Tables() const;
  Snapshot::Part& PartOf(const RecordTable& table);
  void SaveRecord(Snapshot::Part& part, const RecordTable::Record& record);
  void SaveHeader(std::string& out) const;
  void SettleRetention(int64_t old_length_ms, int64_t now_ms);
  // `limits` are of one SKU, whose block is read and stored once.
  void SetLimitsOfSku(std::span<const QuotaLimitSpec> limits, int64_t now_ms);
  void SetLimit(LimitEntry& entry, const QuotaLimitSpec& spec, int64_t now_ms);
  size_t DelLimitsOf(BookId sku, const BookActions& actions, int64_t now_ms);
  size_t DelLimitsIn(OpenLimits limits, const BookActions& actions, int64_t now_ms);
  void AppendLimits(BookId sku, const BookActions& actions, std::vector<QuotaLimit>& out) const;
  void AddSkus(const Ids& skus, const Places& places, const BookActions& actions,
               LeftCounters& counters) const;
  void SweepUsers(RecordTable::Segment& segment, int64_t now_ms, QuotaExpired* expired);
  // The segment is one of parts, or of whole SKUs.
  void SweepLimits(RecordTable::Segment& segment, bool of_parts, int64_t now_ms,
                   QuotaExpired* expired);
  // Whether the entry has a deletion that excludes nothing any more.
  bool HasVoidDeletion(const LimitEntry& entry, int64_t horizon_ms) const {
    return entry.deletion && (entry.deletion->until_ms <= horizon_ms || !HasPurchases());
  }
  bool ExpireDeletions(OpenLimits limits, int64_t horizon_ms);

  bool LoadHeader(std::string_view in);
  bool LoadTexts(std::string_view in);
  bool LoadLimits(std::string_view in);
  bool LoadParts(std::string_view in);
  bool LoadPart(std::string_view key, std::string_view block);
  [[nodiscard]] bool NoteLoaded(std::string_view key, std::span<const LimitEntry> entries);
  bool LoadUsers(std::string_view in);
  bool LoadChunks(std::string_view in);
  bool LoadChunk(std::string_view key, uint32_t number, std::string_view block);
  bool LoadMarks(std::string_view key, uint32_t number, std::string_view block);

  // Calls visit(line) for each line of the user that is kept, in the order of recording.
  template <typename Visit>
  void ForEachKept(std::string_view key, int64_t now_ms, Visit visit) const {
    const Retention::Moment at = retention_.At(now_ms);
    const auto read = [&](const RecordTable::Record& record) {
      if (!record) return;
      for (PurchaseReader reader(record.payload()); reader.Next();) {
        if (retention_.Keeps(reader.line(), at)) visit(reader.line());
      }
    };
    const LargeUser* large = FindLarge(key);
    if (large == nullptr) return read(users_.Find(key));
    for (const auto& [number, earliest_ms] : large->chunks) {
      read(large_->chunks.Find(LargeUsers::ChunkKey(key, number)));
    }
  }
  // Adds the SKUs to the counters, and counts what the user has bought of them, and when.
  void CountUses(const QuotaId& user, std::span<const QuotaId> skus, int64_t now_ms,
                 LeftCounters& counters) const;
  bool ResetOne(const QuotaId& user, const BookActions& actions, int64_t now_ms);
  bool HasPurchases() const {
    return !users_.empty() || (large_ != nullptr && !large_->users.empty());
  }
  static uint8_t ResetsOf(const PurchaseLine& line, const BookActions& actions);

  // The operations on large users; `key` is the user's in users_.
  LargeUser* FindLarge(std::string_view key) const {
    return large_ == nullptr ? nullptr : large_->Find(key);
  }
  // The same for a change: makes the indexes.
  LargeUser* OpenLarge(std::string_view key);
  void MakeLarge(OpenUser& open);
  void PackLarge(std::string_view large_key);
  // Whether the retention has grown and what was gone before is still to be freed.
  bool IsUnsettled(const LargeUser& user) const;
  // Whether the sums may have what is not kept, beside what is older than the horizon.
  bool IsBeyondSums(const LargeUser& user) const {
    return IsUnsettled(user) ||
           (!user.held_sums.empty() && user.longest_hold_ms > retention_.length_ms());
  }
  struct Deletion {
    BookId action;
    int64_t deleted_ms = 0;
  };
  std::vector<Deletion> DeletionsOf(BookId sku) const;
  // The indexes are made of what is stored, so a read may make them.
  void IndexLarge(std::string_view key, LargeUser& user) const;
  UserPurchases AllLines(std::string_view key, const LargeUser& user) const;
  void PutChunks(std::string_view key, LargeUser& user, std::span<OpenChunk> chunks);
  void EraseChunks(std::string_view key, LargeUser& user);
  // Frees what is out of retention in the chunks that are due first, after a change of the user. If
  // little is left, the user is not large any more, and `user` is gone. Returns whether anything
  // has changed.
  bool ExpireLarge(std::string_view key, LargeUser& user, int64_t now_ms);
  static constexpr size_t kChunksAtOnce = 2;
  // Frees what the growths of the retention have left, which no clock brings back.
  void SettleLarge(std::string_view key, LargeUser& user);
  void DropFromChunk(std::string_view key, LargeUser& user, uint32_t number,
                     const Retention::Moment& at);
  // Frees what is out of retention in chunks that hold lines of the order. If its id comes again,
  // it is another order, whose returns are not those of the first.
  void DropOrder(std::string_view key, LargeUser& user, const QuotaId& order,
                 const Retention::Moment& at);
  // Stores a chunk of returns, or erases it if there are none.
  void PutMarks(std::string_view key, LargeUser& user, uint32_t number,
                std::span<const ReturnMark> marks);
  void AddMarks(std::string_view key, LargeUser& user, std::span<const ReturnMark> added);
  bool LargeHasMark(std::string_view key, const LargeUser& user, const ReturnMark& mark) const;
  // Takes the uses of texts that are gone from `uses`.
  void ForgetReturns(std::string_view key, LargeUser& user, const QuotaId& order, TextUses& uses);
  void CountLarge(std::string_view key, LargeUser& user, int64_t now_ms,
                  LeftCounters& counters) const;
  void NoteTimesOfLarge(std::string_view key, LargeUser& user, int64_t now_ms,
                        LeftCounters& counters) const;
  // Whether a line of the order is kept.
  bool LargeKnows(std::string_view key, const LargeUser& user, const QuotaId& order,
                  const Retention::Moment& at) const;
  void AppendToLarge(std::string_view key, LargeUser& user, std::span<const PurchaseLine> lines);
  // Records the order, whose lines are the last of `user`; `large` is null if the user is not.
  void Record(const QuotaOrder& order, OpenUser& user, LargeUser* large, int64_t now_ms);
  // Opens the chunks that hold lines of the order.
  OpenUser OpenOrder(const QuotaId& user_id, LargeUser& user, const QuotaId& order, int64_t now_ms);
  void StoreOrder(OpenUser& open, LargeUser& user);
  bool ResetLarge(std::string_view key, LargeUser& user, const BookActions& actions,
                  const Retention::Moment& at);
  // Returns false when the round is complete.
  bool SweepLarge(int64_t now_ms, size_t& budget, QuotaExpired* expired);

  RecordTable limits_;                     // sku -> limit block
  RecordTable users_;                      // user -> purchase block
  std::unique_ptr<TextDictionary> texts_;  // null if the book has none
  std::unique_ptr<PartedSkus> parted_;     // null if the book has none
  std::unique_ptr<LargeUsers> large_;      // null if the book has none
  size_t limit_count_ = 0;
  size_t most_limits_ = 0;  // no SKU has ever had more
  size_t purchase_count_ = 0;
  Retention retention_;
  RecordingOrder recording_;
  uint64_t seed_;
  std::unique_ptr<Snapshot> snapshot_;
  uint64_t snapshots_ = 0;  // begun so far
  uint64_t sweep_position_ = 0;
  enum class Sweep { kUsers, kLimits, kParts, kLarge } sweep_ = Sweep::kUsers;
  bool any_holds_ = false;  // a line was held since the book was made or loaded
};

}  // namespace tally
