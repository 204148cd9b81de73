#include "server/durability/rewrite_pacing.h"

#include <algorithm>
#include <utility>

namespace tally::server {
namespace {

// How long a slice takes while no client is being served, and while one is. A client counts as
// being served for kServedMicros after a request: its next request may be on its way, and would
// have to wait for a long slice.
constexpr int64_t kLoopSliceMicros = 1000;
constexpr int64_t kServedSliceMicros = 250;
constexpr int64_t kServedMicros = 5000;
// While clients are being served, the next slice comes after a pause: kIdleTimes the time that the
// last slice took, if the turn has no requests, or kBusyTimes that time, if it has some.
constexpr int64_t kIdleTimes = 1;
constexpr int64_t kBusyTimes = 7;

}  // namespace

bool RewritePacing::Serving(int64_t now_us) const {
  return now_us - last_served_us_ < kServedMicros;
}

std::optional<int64_t> RewritePacing::SliceDue(uint64_t commands, int64_t now_us) {
  const bool idle = std::exchange(served_commands_, commands) == commands;
  if (!idle) last_served_us_ = now_us;
  if (!Serving(now_us)) return kLoopSliceMicros;
  if (now_us < (idle ? next_idle_slice_us_ : next_busy_slice_us_)) return std::nullopt;
  return kServedSliceMicros;
}

void RewritePacing::SliceRan(int64_t begin_us, int64_t end_us) {
  next_idle_slice_us_ = end_us + kIdleTimes * (end_us - begin_us);
  next_busy_slice_us_ = end_us + kBusyTimes * (end_us - begin_us);
}

int64_t RewritePacing::NextSliceIn(int64_t now_us) const {
  return Serving(now_us) ? std::max<int64_t>(next_idle_slice_us_ - now_us, 0) : 0;
}

}  // namespace tally::server
