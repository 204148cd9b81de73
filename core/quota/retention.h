// How long a quota book keeps its purchases.
#pragma once

#include <absl/container/btree_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/quota/purchase_block.h"
#include "core/quota/recording_order.h"

namespace tally {

// Purchases are kept for the longest window of the book's limits, and at least for a minimum. What
// has once been out of retention is gone: a longer window set afterwards does not bring it back,
// so that no answer depends on when the bytes were really freed.
class Retention {
 public:
  // Purchases recorded until then, with ts_ms up to the horizon, were gone when the retention grew.
  struct Gone {
    int64_t recorded_ms = 0;
    int64_t horizon_ms = 0;
    friend bool operator==(const Gone&, const Gone&) = default;
  };

  explicit Retention(int64_t minimum_ms) : minimum_ms_(minimum_ms) {}

  // One limit more, or less, of that window. O(log of the distinct windows).
  void Add(int64_t window_ms) { ++windows_[window_ms]; }
  void Remove(int64_t window_ms);

  int64_t minimum_ms() const { return minimum_ms_; }
  void set_minimum_ms(int64_t minimum_ms) { minimum_ms_ = minimum_ms; }
  int64_t length_ms() const;

  // To be called after changes at `now_ms`, with the length before them.
  void Settle(int64_t old_length_ms, int64_t now_ms, RecordingOrder& recording);

  // Purchases of this instant and before are out of retention.
  int64_t Horizon(int64_t now_ms) const;
  // The same including what was gone at an earlier time: only lines up to here can be gone.
  int64_t WidestHorizon(int64_t now_ms) const;
  // Whether a line is kept, with the horizon of now.
  bool Keeps(const PurchaseLine& line, int64_t horizon_ms) const {
    if (line.ts_ms <= horizon_ms) return false;
    return gone_.empty() || line.ts_ms > gone_.front().horizon_ms || !WasGone(line);
  }

  // What of it a snapshot must carry; the windows come with the limits.
  const std::vector<Gone>& gone() const { return gone_; }
  // False if they are not in order.
  [[nodiscard]] bool set_gone(std::vector<Gone> gone);

  size_t MemoryBytes() const;

 private:
  bool WasGone(const PurchaseLine& line) const;

  int64_t minimum_ms_;
  absl::btree_map<int64_t, uint64_t> windows_;  // window -> limits that have it
  // recorded_ms ascending, horizon_ms descending: one with both less would say nothing.
  std::vector<Gone> gone_;
};

}  // namespace tally
