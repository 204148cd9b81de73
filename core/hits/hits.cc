#include "core/hits/hits.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/varint.h"
#include "core/time/duration.h"

namespace tally {
namespace {

// In a saved window: the lateness follows. Above every window.
constexpr uint64_t kIsLate = uint64_t{1} << 48;

}  // namespace

std::optional<int64_t> Hits::Add(int64_t count, int64_t window_ms, int64_t at_ms, int64_t now_ms,
                                 std::optional<int64_t> cap) {
  SetBack(now_ms);
  const int64_t place = cap ? std::max(at_ms, newest_ms()) : at_ms;
  const int64_t judged_at_ms = cap ? place : now_ms;
  // Uses the former window: hits that have left it do not come back when a longer one is given.
  const int64_t expired_ms = cap ? place - window_ms_ : ExpiredThrough(now_ms);
  const int64_t before_ms = std::max(judged_at_ms - window_ms, expired_ms);
  const auto held = static_cast<int64_t>(log_.CountAfter(before_ms));
  if (cap && held >= *cap && *cap < kNoCap) return std::nullopt;
  if (count > 0 && (cap || IsInTime(at_ms, window_ms, now_ms))) {
    log_.DropThrough(expired_ms);
    const int64_t found_by = newest_ms() + late_ms_;
    log_.Add(place, static_cast<uint64_t>(count));
    late_ms_ = cap ? now_ms - place : std::max<int64_t>(0, found_by - newest_ms());
    window_ms_ = std::max(window_ms_, window_ms);
  }
  int64_t with_these = 0;
  return __builtin_add_overflow(held, count, &with_these) ? INT64_MAX : with_these;
}

bool Hits::SetBack(int64_t now_ms) {
  if (!IsAhead(now_ms)) [[likely]]
    return false;
  if (newest_ms() > now_ms) log_.SetBackTo(now_ms);
  late_ms_ = now_ms - newest_ms();
  return true;
}

int64_t Hits::Count(int64_t window_ms, int64_t at_ms, int64_t now_ms) const {
  return static_cast<int64_t>(log_.CountAfter(std::max(at_ms - window_ms, ExpiredThrough(now_ms))));
}

int64_t Hits::Undo(int64_t count, int64_t now_ms) {
  if (count == 0) return Count(window_ms_, now_ms, now_ms);
  SetBack(now_ms);
  log_.DropThrough(ExpiredThrough(now_ms));
  log_.RemoveNewest(static_cast<uint64_t>(count));
  return static_cast<int64_t>(log_.size());
}

std::vector<int64_t> Hits::Range(int64_t from_ms, int64_t to_ms, int64_t step_ms,
                                 int64_t now_ms) const {
  const int64_t steps = (to_ms - from_ms + step_ms - 1) / step_ms;
  Check(steps >= 0 && static_cast<size_t>(steps) <= kMaxRangeSteps, "the caller limits the steps");
  std::vector<int64_t> counts(static_cast<size_t>(steps));
  log_.ForEachAfter(
      std::max(from_ms - 1, ExpiredThrough(now_ms)), [&](int64_t at_ms, uint64_t count) {
        if (at_ms < to_ms)
          counts[static_cast<size_t>((at_ms - from_ms) / step_ms)] += static_cast<int64_t>(count);
      });
  return counts;
}

size_t Hits::MemoryBytes() const { return HeapBytes(sizeof(*this)) + log_.HeapBytesUsed(); }

uint64_t Hits::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  if (late_ms_ == 0) {
    AppendVarint(out, static_cast<uint64_t>(window_ms_));
  } else {
    AppendVarint(out, static_cast<uint64_t>(window_ms_) | kIsLate);
    AppendVarint(out, static_cast<uint64_t>(late_ms_));
  }
  return log_.Save(cursor, max_bytes, out);
}

bool Hits::Load(std::string_view run) {
  uint64_t window = 0;
  uint64_t late = 0;
  if (!ReadVarint(run, window)) return false;
  if ((window & kIsLate) != 0 && !ReadVarint(run, late)) return false;
  window &= ~kIsLate;
  if (window > kMaxDurationMs || late > kMaxInstantMs) return false;
  window_ms_ = std::max(window_ms_, static_cast<int64_t>(window));
  late_ms_ = static_cast<int64_t>(late);
  return log_.Load(run) && run.empty();
}

}  // namespace tally
