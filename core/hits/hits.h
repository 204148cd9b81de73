// How often something happened in a sliding window: an exact log of hits.
//
// The window of a key is the longest that any Add with a kept hit gave since the key came to be.
// Hits are kept as long as they can count in that window. A hit at `at_ms` is in a window w that
// ends at e iff e - w < at. An `at_ms` after `now_ms` is `now_ms`.
//
// A late hit (at < now) is inserted in its place in the log. If it is outside the key's window
// already, the reply is the same, but the hit is not kept.
//
// With a cap an Add decides, and goes by event time: it is judged and counted at the later of
// `at_ms` and the newest hit, and the key lives as much longer as that hit was late. So no window
// of event time gets more than its cap, however late hits are.
//
// A hit after `now_ms` was counted before the server's clock was set back. It is read as a hit at
// `now_ms`, and the next Add or Undo stores it so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/type.h"
#include "core/time/time_log.h"

namespace tally {

// Instants are in [0, kMaxInstantMs], windows in (0, kMaxDurationMs], counts in [0, INT64_MAX].
class Hits {
 public:
  static constexpr Type kType = Type::kHits;
  // A value of at most this many bytes when saved is in the key's record and is loaded for each
  // command.
  static constexpr size_t kMaxPackedBytes = 128;
  static constexpr size_t kMaxRangeSteps = 100'000;
  static constexpr int64_t kNoCap = INT64_MAX;

  // Adds `count` hits at the instant `at_ms`. Returns the hits in `window_ms`, including these;
  // nullopt, with no hit added, if there is a cap and the window holds that many hits already;
  // kNoCap is a cap that refuses nothing. Where no hit is kept, nothing changes but what SetBack
  // does: expired hits stay too, so that a copy that is told of changes only is the same. Amortised
  // O(1) for hits in order that are kept.
  std::optional<int64_t> Add(int64_t count, int64_t window_ms, int64_t at_ms, int64_t now_ms,
                             std::optional<int64_t> cap = std::nullopt);

  // Whether a hit at `at_ms` that is added without a cap is kept: the longer of its window and the
  // key's still holds it.
  bool IsInTime(int64_t at_ms, int64_t window_ms, int64_t now_ms) const {
    return at_ms > now_ms - late_ms_ - std::max(window_ms_, window_ms);
  }

  // Whether some hit lies after `now_ms`, or arrived after it.
  bool IsAhead(int64_t now_ms) const { return newest_ms() + late_ms_ > now_ms; }

  // Makes hits after `now_ms` hits of `now_ms`, and those that arrived after `now_ms` less late.
  // Returns whether there were any.
  bool SetBack(int64_t now_ms);

  // Counts the hits after the begin of a window that ends at `at_ms`, which is not after `now_ms`.
  // Hits outside the key's own window do not count. Costs as TimeLog::CountAfter; O(1) for the
  // key's window once Add has dropped the expired hits.
  int64_t Count(int64_t window_ms, int64_t at_ms, int64_t now_ms) const;

  // Removes the `count` newest hits; returns how many are left in the key's window. With 0 nothing
  // changes.
  int64_t Undo(int64_t count, int64_t now_ms);

  // Returns the hits of each step of `step_ms` from `from_ms` on; the last step ends at `to_ms` and
  // may be shorter. from_ms <= to_ms, and at most kMaxRangeSteps steps (asserted). O(steps + hits
  // from `from_ms` on).
  std::vector<int64_t> Range(int64_t from_ms, int64_t to_ms, int64_t step_ms, int64_t now_ms) const;

  // 0 before the first Add.
  int64_t window_ms() const { return window_ms_; }
  bool empty() const { return log_.empty(); }
  // The instant of the newest hit; 0 if empty.
  int64_t newest_ms() const { return empty() ? 0 : log_.newest_ms(); }
  // The instant from which on no hit can count any more; 0 if empty.
  int64_t ExpiresAt() const { return empty() ? 0 : newest_ms() + window_ms_ + late_ms_; }

  // Makes it as new but keeps its memory, for an object that is loaded again and again.
  void Clear() {
    window_ms_ = 0;
    late_ms_ = 0;
    log_.Clear();
  }

  // The number of hits, as a measure of the time that freeing them takes.
  size_t Weight() const { return static_cast<size_t>(log_.size()); }
  size_t MemoryBytes() const;
  static constexpr std::string_view encoding() { return "timelog"; }
  std::unique_ptr<Hits> Clone() const { return std::make_unique<Hits>(*this); }
  bool FreeSome(size_t budget) { return log_.FreeSome(budget); }
  // Appends a self-contained run of about `max_bytes` for Load, from `cursor` on (0 begins).
  // Returns the next cursor, 0 at the end.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Returns false if the run is malformed; a part of it may then have been added.
  [[nodiscard]] bool Load(std::string_view run);
  // The same as one run, for the key's record. Returns false, with bytes appended, if it is too
  // large.
  [[nodiscard]] bool SavePacked(std::string& out) const {
    return Save(0, SIZE_MAX, out) == 0 && out.size() <= kMaxPackedBytes;
  }
  [[nodiscard]] bool LoadPacked(std::string_view bytes) {
    Clear();
    return Load(bytes);
  }

 private:
  // Hits up to this instant have left the key's window, also for hits as late as its own.
  int64_t ExpiredThrough(int64_t now_ms) const { return now_ms - late_ms_ - window_ms_; }
  int64_t window_ms_ = 0;
  // How much longer the key lives because a hit was counted by event time and was late; 0 for most.
  int64_t late_ms_ = 0;
  TimeLog log_;
};

}  // namespace tally
