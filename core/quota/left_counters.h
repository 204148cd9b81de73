// The counters that `left` is computed from: the limits of a few SKUs, and the quantity of a user's
// purchases that counts for each limit. They live for one command.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "core/base/saturating.h"
#include "core/quota/limit_block.h"
#include "core/quota/purchase_block.h"
#include "core/quota/quota_types.h"
#include "core/quota/text_dictionary.h"

namespace tally {

// The ACTIONS of a command as ids of the book: all actions, or the ones listed.
class BookActions {
 public:
  BookActions() = default;
  explicit BookActions(std::vector<BookId> listed);
  bool all() const { return all_; }
  // Ascending; empty if all().
  const std::vector<BookId>& listed() const { return listed_; }
  bool Contains(BookId action) const { return all_ || Lists(action); }
  // What a reset of these actions sets in a line: kResetInTotal, kResetInAction.
  uint8_t ResetsOf(const PurchaseLine& line) const {
    const bool in_action = line.action != kNoAction && Contains(line.action);
    return (Contains(kNoAction) ? kResetInTotal : 0) | (in_action ? kResetInAction : 0);
  }

 private:
  bool Lists(BookId action) const;

  bool all_ = true;
  std::vector<BookId> listed_;  // ascending
};

class LeftCounters {
 public:
  explicit LeftCounters(int64_t now_ms) : now_ms_(now_ms) {}

  // Up to this many SKUs, a linear search is faster than a binary search.
  static constexpr size_t kFewSkus = 8;
  // Up to this many counters of a SKU, all are visited for each line. Of more, two are looked up:
  // thousands of lines meet thousands of limits otherwise.
  static constexpr size_t kFewCounters = 16;

  int64_t now_ms() const { return now_ms_; }

  // Adds a SKU with the limits that are set on it, in these blocks in the order of actions, except
  // those of actions outside of `actions`.
  // Each SKU must be added only once, and in ascending order if there are more than kFewSkus.
  // Returns how many limits it looked at.
  size_t AddSku(BookId sku, const LimitBlocks& blocks, const BookActions& actions);

  // Counts a line that is recorded. O(log SKUs + log limits of the line's SKU).
  void Count(const PurchaseLine& line);

  // Notes when a line that is counted will count no more, for AppendUses().
  void NoteTime(const PurchaseLine& line);

  // Sets what was bought of all limits to bought(sku, action, after_ms, deleted_ms): the quantity
  // of the purchases later than `after_ms`, and of what is held, that were recorded after
  // `deleted_ms`.
  template <typename Bought>
  void SetBought(Bought bought) {
    ForEach([&](BookId sku, Counter& counter) {
      counter.bought = bought(sku, counter.action, After(counter), counter.deleted_ms);
    });
  }

  // The same for when the first of it counts no more: `oldest` is when the oldest purchase was made
  // that is counted, and `ends` when the first hold ends; both the latest instant there is if there
  // is none.
  template <typename Oldest, typename Ends>
  void SetTimes(Oldest oldest, Ends ends) {
    ForEach([&](BookId sku, Counter& counter) {
      if (counter.bought == 0) return;
      constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
      counter.next_ms = ends(sku, counter.action);
      const int64_t oldest_ms = oldest(sku, counter.action, After(counter));
      if (oldest_ms != kNone)
        counter.next_ms = std::min(counter.next_ms, Leaves(counter, oldest_ms));
    });
  }

  // Forgets what was counted for the SKU, so that another user can be counted.
  void Restart(BookId sku);

  // Counts a line on trial. Returns false if a limit for its SKU (that of its action, or the total
  // one) is then exceeded.
  bool Try(const PurchaseLine& line);
  // Undoes all calls of Try().
  void GiveUp();

  // Appends what is left for the SKU, ascending by action, or kUnlimited if it has no limit. `name`
  // is the caller's id of the SKU. `texts` holds the texts of actions; null if the book has none.
  void AppendLeft(BookId sku, const QuotaId& name, const TextDictionary* texts,
                  QuotaLefts& out) const;
  // Appends the limits of the SKU with their uses, ascending by action; nothing if it has none.
  void AppendUses(BookId sku, const TextDictionary* texts, std::vector<QuotaUse>& out) const;
  // Whether the SKU was added.
  bool Knows(BookId sku) const { return Find(sku) != nullptr; }
  // The limits of the SKU; 0 if it was not added.
  size_t LimitsOf(BookId sku) const;
  // The limits of all SKUs that were added.
  size_t size() const { return counters_.size(); }

 private:
  struct Counter {
    BookId action;
    int64_t limit;
    int64_t window_ms;
    int64_t deleted_ms;
    int64_t bought = 0;
    int64_t trial = 0;
    int64_t next_ms = std::numeric_limits<int64_t>::max();
  };
  struct Sku {
    int64_t value;
    size_t begin;
    size_t end;
  };
  using Skus = absl::InlinedVector<Sku, 8>;

  static const Sku* Find(const Skus& skus, int64_t value);
  const Sku* Find(BookId sku) const {
    return sku.is_text ? Find(text_skus_, sku.value) : Find(skus_, sku.value);
  }
  bool Counts(const Counter& counter, const PurchaseLine& line) const;
  // What was bought up to then is out of the window.
  int64_t After(const Counter& counter) const { return SaturatingSub(now_ms_, counter.window_ms); }
  // When a purchase leaves the window. What lies after now is read as now.
  int64_t Leaves(const Counter& counter, int64_t ts_ms) const {
    return SaturatingAdd(std::min(ts_ms, now_ms_), counter.window_ms);
  }
  int64_t LeftOf(const Counter& counter) const {
    return std::max<int64_t>(counter.limit - counter.bought - counter.trial, 0);
  }
  // Calls call(sku, counter) for all counters.
  template <typename Call>
  void ForEach(Call call) {
    for (const bool is_text : {false, true}) {
      for (const Sku& sku : is_text ? text_skus_ : skus_) {
        for (size_t i = sku.begin; i < sku.end; ++i) call(BookId(sku.value, is_text), counters_[i]);
      }
    }
  }
  // Calls `call` for the counters of the SKU that a line of that action can concern, and for no
  // more than kFewCounters others.
  template <typename Call>
  void ForEachConcerned(const Sku& sku, BookId action, Call call);

  int64_t now_ms_;
  Skus skus_;
  Skus text_skus_;                             // the values are the numbers of their texts
  absl::InlinedVector<Counter, 16> counters_;  // of a SKU: ascending by action
};

}  // namespace tally
