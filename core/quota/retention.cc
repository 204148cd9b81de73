#include "core/quota/retention.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/saturating.h"

namespace tally {

void Retention::Remove(int64_t window_ms) {
  const auto found = windows_.find(window_ms);
  Check(found != windows_.end(), "a limit's window is known to the retention");
  if (--found->second == 0) windows_.erase(found);
}

int64_t Retention::length_ms() const {
  return windows_.empty() ? minimum_ms_ : std::max(minimum_ms_, windows_.rbegin()->first);
}

void Retention::Settle(int64_t old_length_ms, int64_t now_ms, RecordingOrder& recording) {
  if (length_ms() <= old_length_ms) return;
  const Gone gone{recording.Mark(now_ms), HorizonOf(old_length_ms, now_ms)};
  while (!gone_.empty() && gone_.back().horizon_ms <= gone.horizon_ms) gone_.pop_back();
  if (gone_.empty() || gone_.back().recorded_ms < gone.recorded_ms) gone_.push_back(gone);
}

int64_t Retention::HorizonOf(int64_t length_ms, int64_t now_ms) const {
  return SaturatingSub(SaturatingSub(now_ms, lag_ms_), length_ms);
}

int64_t Retention::Horizon(int64_t now_ms) const { return HorizonOf(length_ms(), now_ms); }

int64_t Retention::WidestHorizon(int64_t now_ms) const {
  const int64_t horizon_ms = Horizon(now_ms);
  return gone_.empty() ? horizon_ms : std::max(horizon_ms, gone_.front().horizon_ms);
}

bool Retention::WasGone(const PurchaseLine& line) const {
  // Of the entries that cover the line's stamp, the first one has the latest horizon.
  const auto covers = std::lower_bound(
      gone_.begin(), gone_.end(), line.recorded_ms,
      [](const Gone& gone, int64_t recorded_ms) { return gone.recorded_ms < recorded_ms; });
  return covers != gone_.end() && line.ts_ms <= covers->horizon_ms;
}

bool Retention::set_gone(std::vector<Gone> gone) {
  for (size_t i = 1; i < gone.size(); ++i) {
    if (gone[i].recorded_ms <= gone[i - 1].recorded_ms) return false;
    if (gone[i].horizon_ms >= gone[i - 1].horizon_ms) return false;
  }
  gone_ = std::move(gone);
  return true;
}

size_t Retention::MemoryBytes() const {
  // Nodes of a btree are about three quarters full.
  return windows_.size() * (sizeof(int64_t) + sizeof(uint64_t)) * 4 / 3 +
         gone_.capacity() * sizeof(Gone);
}

}  // namespace tally
