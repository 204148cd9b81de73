// Decides whether a purchase was recorded before or after an instant (a mark) in the life of a
// quota book, without an extra number on every purchase, and whatever the clock does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/base/saturating.h"

namespace tally {

// Each purchase gets a stamp and each mark a time, such that stamp <= mark iff the purchase was
// recorded before the mark (a hybrid logical clock: Kulkarni et al., 2014). The stamp of a purchase
// is its own ts_ms, which costs nothing to keep, unless a mark has a time >= ts_ms (the order is
// late, or in the same millisecond) or ts_ms is in the future.
struct RecordingOrder {
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

  int64_t Stamp(int64_t ts_ms, int64_t now_ms) {
    if (ts_ms > now_ms) latest_future_ms = std::max(latest_future_ms, ts_ms);
    const bool plain = ts_ms > latest_mark_ms && ts_ms <= now_ms;
    const int64_t stamp_ms = plain ? ts_ms : std::max(now_ms, SaturatingAdd(latest_mark_ms, 1));
    latest_stamp_ms = std::max(latest_stamp_ms, stamp_ms);
    return stamp_ms;
  }

  // A hold of a late order begins later than the order's ts_ms.
  void NoteHold(int64_t held_at_ms) { latest_future_ms = std::max(latest_future_ms, held_at_ms); }

  int64_t Mark(int64_t now_ms) {
    latest_mark_ms = std::max({now_ms, latest_stamp_ms, latest_mark_ms});
    return latest_mark_ms;
  }

  // No purchase that is recorded has a later ts_ms, and no hold begins later.
  int64_t LatestInstant() const { return std::max(latest_stamp_ms, latest_future_ms); }

  int64_t latest_mark_ms = kNever;
  int64_t latest_stamp_ms = kNever;
  // The latest ts_ms that was in the future when recorded, or the latest hold's begin.
  int64_t latest_future_ms = kNever;
};

}  // namespace tally
