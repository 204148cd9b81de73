// How long a quota book keeps its purchases.
#pragma once

#include <absl/container/btree_map.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/saturating.h"
#include "core/quota/purchase_block.h"
#include "core/quota/recording_order.h"

namespace tally {

// Purchases are kept for the longest window of the book's limits, and at least for a minimum. A
// purchase that was out of retention once is gone for ever: a longer window set afterwards does not
// bring it back. So no answer depends on when its bytes were really freed.
class Retention {
 public:
  // One growth of the retention: purchases with a stamp <= recorded_ms and a ts_ms <= horizon_ms
  // were gone before it.
  struct Gone {
    int64_t recorded_ms = 0;
    int64_t horizon_ms = 0;
    friend bool operator==(const Gone&, const Gone&) = default;
  };

  explicit Retention(int64_t minimum_ms) : minimum_ms_(minimum_ms) {}

  // Adds or removes one limit with this window; Remove asserts that there is one. O(log distinct
  // windows).
  void Add(int64_t window_ms) { ++windows_[window_ms]; }
  void Remove(int64_t window_ms);

  int64_t minimum_ms() const { return minimum_ms_; }
  void set_minimum_ms(int64_t minimum_ms) { minimum_ms_ = minimum_ms; }
  // By how much the instant that decides what is kept is before now; see QuotaBook. Not saved.
  void set_lag_ms(int64_t lag_ms) { lag_ms_ = lag_ms; }
  int64_t length_ms() const;

  // Must be called after changes at `now_ms`, with length_ms() from before them. Notes what is gone
  // if the retention has grown.
  void Settle(int64_t old_length_ms, int64_t now_ms, RecordingOrder& recording);

  // What decides about what is kept at an instant.
  struct Moment {
    int64_t horizon_ms = 0;
    int64_t now_ms = 0;
  };
  Moment At(int64_t now_ms) const { return {Horizon(now_ms), now_ms}; }

  // Returns the instant (unix ms) up to which, inclusive, purchases are out of retention by their
  // ts_ms.
  int64_t Horizon(int64_t now_ms) const;
  // The same, including lines that were gone at an earlier time: no line with a later ts_ms can be
  // gone.
  int64_t WidestHorizon(int64_t now_ms) const;
  // From which horizon on the line is not kept, as long as the retention does not grow.
  int64_t DueOf(const PurchaseLine& line) const {
    if (!line.is_held()) return line.ts_ms;
    return std::min(line.ts_ms, SaturatingSub(line.HeldUntil(), length_ms()));
  }
  // Whether a line is kept at that moment. A hold that is over is not.
  bool Keeps(const PurchaseLine& line, const Moment& at) const {
    if (line.ts_ms <= at.horizon_ms) return false;
    if (line.is_held() && line.HeldUntil() <= at.now_ms) [[unlikely]]
      return false;
    return gone_.empty() || line.ts_ms > gone_.front().horizon_ms || !WasGone(line);
  }

  // The part of the state that a snapshot must hold besides the minimum; Load() adds the windows
  // again with the limits.
  const std::vector<Gone>& gone() const { return gone_; }
  // Returns false and changes nothing if the entries are not in the order described below.
  [[nodiscard]] bool set_gone(std::vector<Gone> gone);

  size_t MemoryBytes() const;

 private:
  int64_t HorizonOf(int64_t length_ms, int64_t now_ms) const;
  bool WasGone(const PurchaseLine& line) const;

  int64_t minimum_ms_;
  int64_t lag_ms_ = 0;
  absl::btree_map<int64_t, uint64_t> windows_;  // window -> number of limits that have it
  // Ascending by recorded_ms, descending by horizon_ms. An entry whose two values are both at most
  // another entry's adds nothing and is left out.
  std::vector<Gone> gone_;
};

}  // namespace tally
