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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/run_sink.h"
#include "core/quota/book_data.h"
#include "core/quota/book_users.h"
#include "core/quota/entity_key.h"
#include "core/quota/left_counters.h"
#include "core/quota/quota_types.h"

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
    const BookActions listed = data_->Find(actions);
    std::vector<QuotaLimit> limits;
    for (const QuotaId& sku : skus) {
      limits.clear();
      AppendLimits(sku, listed, limits);
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
      counters.AppendUses(data_->Find(sku), data_->texts.get(), uses);
      visit(std::span<const QuotaUse>(uses));
    }
  }
  // Calls visit(purchase) for each line that is kept for the user, in the order of recording.
  template <typename Visit>
  void ForEachPurchase(const QuotaId& user, int64_t now_ms, Visit visit) const {
    BookUsers(*data_).ForEachKept(EntityKey(user).view(), now_ms, [&](const PurchaseLine& line) {
      visit(QuotaPurchase{line.order, data_->NameOf(line.sku), data_->NameOf(line.action), line.qty,
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
  void SetRetentionLag(int64_t lag_ms) { data_->retention.set_lag_ms(lag_ms); }
  int64_t min_retention_ms() const { return data_->retention.minimum_ms(); }
  void SetMinRetention(int64_t min_retention_ms, int64_t now_ms);

  // Whether there are no limits and no purchases.
  bool Empty() const { return data_->limit_count == 0 && !data_->HasPurchases(); }
  Stats stats() const;
  // Heap bytes, without those of a snapshot in progress, and the size of the object itself. O(1).
  size_t MemoryBytes() const { return sizeof(*this) + data_->MemoryBytes(); }

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
  bool FreeSome(size_t segments) { return data_->FreeSome(segments); }

  // Whether purchases after now may be stored: the clock was set back since. They are rare, and so
  // is what looks for them.
  bool MayBeAhead(int64_t now_ms) const { return data_->recording.LatestInstant() > now_ms; }
  // Where NextAhead() goes on; it begins with a new one.
  using AheadCursor = BookUsers::AheadCursor;
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
  bool SaveSnapshot() { return data_->SaveSnapshot(); }
  void EndSnapshot() { data_->snapshot = nullptr; }

  // Adds a run to a book that has only got runs of the same snapshot. Returns false if the run is
  // malformed; the book must then be destroyed.
  [[nodiscard]] bool Load(std::string_view run);

 private:
  explicit QuotaBook(std::unique_ptr<BookData> data) : data_(std::move(data)) {}

  // Appends the limits of the SKU for these actions, ascending by action.
  void AppendLimits(const QuotaId& sku, const BookActions& actions,
                    std::vector<QuotaLimit>& limits) const;
  // Adds the SKUs to the counters, and counts what the user has bought of them, and when.
  void CountUses(const QuotaId& user, std::span<const QuotaId> skus, int64_t now_ms,
                 LeftCounters& counters) const;
  // Sets the SKUs and actions of the order that is being recorded, the last items.size() lines.
  // Adds its new texts to the dictionary.
  void NameTexts(std::span<const QuotaItem> items, std::vector<PurchaseLine>& lines);
  // Records the order, if what is counted leaves room for it or it need not.
  void Apply(const QuotaOrder& order, int64_t now_ms, OpenUser& user, LeftCounters& counters,
             BuyResult& result);
  RecordTable::Segment* NextToSweep();

  // On the heap, so that what lives for one call can point to it.
  std::unique_ptr<BookData> data_;
  uint64_t sweep_position_ = 0;
  enum class Sweep { kUsers, kLimits, kParts, kLarge } sweep_ = Sweep::kUsers;
};

}  // namespace tally
