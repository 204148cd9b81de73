#include "core/hits/hits.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/varint.h"
#include "core/time/duration.h"

namespace tally {

std::optional<int64_t> Hits::Add(int64_t count, int64_t window_ms, int64_t at, int64_t now,
                                 int64_t cap) {
  const int64_t kept_ms = std::max(window_ms_, window_ms);
  // Uses the former window: hits that have left it do not come back when a longer one is given.
  const int64_t expired = now - window_ms_;
  const int64_t before = std::max(std::max(now, at) - window_ms, expired);
  const auto held = static_cast<int64_t>(log_.CountAfter(before));
  if (held >= cap && cap < kNoCap) return std::nullopt;
  if (at > now - kept_ms && count > 0) {
    log_.DropThrough(expired);
    log_.Add(at, static_cast<uint64_t>(count));
    window_ms_ = kept_ms;
  }
  int64_t with_these = 0;
  return __builtin_add_overflow(held, count, &with_these) ? INT64_MAX : with_these;
}

int64_t Hits::Count(int64_t window_ms, int64_t at, int64_t now) const {
  return static_cast<int64_t>(log_.CountAfter(std::max(at - window_ms, now - window_ms_)));
}

int64_t Hits::Undo(int64_t count, int64_t now) {
  if (count == 0) return Count(window_ms_, now, now);
  log_.DropThrough(now - window_ms_);
  log_.RemoveNewest(static_cast<uint64_t>(count));
  return static_cast<int64_t>(log_.size());
}

std::vector<int64_t> Hits::Range(int64_t from, int64_t to, int64_t step_ms, int64_t now) const {
  const int64_t steps = (to - from + step_ms - 1) / step_ms;
  Check(steps >= 0 && static_cast<size_t>(steps) <= kMaxRangeSteps, "the caller limits the steps");
  std::vector<int64_t> counts(static_cast<size_t>(steps));
  log_.ForEachAfter(std::max(from - 1, now - window_ms_), [&](int64_t at, uint64_t count) {
    if (at < to) counts[static_cast<size_t>((at - from) / step_ms)] += static_cast<int64_t>(count);
  });
  return counts;
}

size_t Hits::MemoryBytes() const { return HeapBytes(sizeof(*this)) + log_.HeapBytesUsed(); }

uint64_t Hits::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  AppendVarint(out, static_cast<uint64_t>(window_ms_));
  return log_.Save(cursor, max_bytes, out);
}

bool Hits::Load(std::string_view run) {
  uint64_t window = 0;
  if (!ReadVarint(run, window) || window > kMaxDurationMs) return false;
  window_ms_ = std::max(window_ms_, static_cast<int64_t>(window));
  return log_.Load(run) && run.empty();
}

}  // namespace tally
