// How often something happened in a sliding window: an exact log of hits.
//
// The window of a key is the longest that any Add gave since the key came to be: hits are kept as
// long as they can count in that. A hit at `at` is judged at the later of `now` and `at`: it is in
// a window w at e iff e - w < at, and hits from the future count. A late hit is put in its own
// place; one that is outside the key's window already gets the same reply and is not kept.
#pragma once

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
  // Saved values up to this are worth loading for each command and are in the key's record.
  static constexpr size_t kMaxPackedBytes = 128;
  static constexpr size_t kMaxRangeSteps = 100'000;
  static constexpr int64_t kNoCap = INT64_MAX;

  // Adds `count` hits of the instant `at`; the hits in `window` with these. nullopt, and nothing
  // changed, if the window holds `cap` or more already. Amortised O(1) for hits in order.
  std::optional<int64_t> Add(int64_t count, int64_t window_ms, int64_t at, int64_t now,
                             int64_t cap = kNoCap);

  // Hits in a window (at most the key's own, as seen from `now`) that ends at `at`. As
  // TimeLog::CountAfter; O(1) for the key's window once Add has dropped what expired.
  int64_t Count(int64_t window_ms, int64_t at, int64_t now) const;

  // Takes the `count` newest hits back; the hits left in the key's window.
  int64_t Undo(int64_t count, int64_t now);

  // Hits of each step of `step_ms` from `from` on; the last step ends at `to` and may be short.
  // from <= to, and at most kMaxRangeSteps steps. O(steps + hits from `from` on).
  std::vector<int64_t> Range(int64_t from, int64_t to, int64_t step_ms, int64_t now) const;

  // 0 before the first Add.
  int64_t window_ms() const { return window_ms_; }
  bool empty() const { return log_.empty(); }
  // The newest hit; 0 if empty.
  int64_t newest() const { return empty() ? 0 : log_.newest(); }
  // From this instant on nothing in it can count any more; 0 if empty.
  int64_t ExpiresAt() const { return empty() ? 0 : newest() + window_ms_; }

  // Makes it as new, but keeps room: for one that is loaded again and again.
  void Clear() {
    window_ms_ = 0;
    log_.Clear();
  }

  // Hits, as far as freeing them takes time.
  size_t Weight() const { return static_cast<size_t>(log_.size()); }
  size_t MemoryBytes() const;
  std::unique_ptr<Hits> Clone() const { return std::make_unique<Hits>(*this); }
  bool FreeSome(size_t budget) { return log_.FreeSome(budget); }
  // A self-contained run of about `max_bytes` for Load, from `cursor` on: 0 begins; the result is
  // the next cursor, 0 at the end.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // False, with part of it added perhaps, if the run is malformed.
  [[nodiscard]] bool Load(std::string_view run);
  // The same as one run, for the key's record. False, with something appended, if it is too large.
  [[nodiscard]] bool SavePacked(std::string& out) const {
    return Save(0, SIZE_MAX, out) == 0 && out.size() <= kMaxPackedBytes;
  }
  [[nodiscard]] bool LoadPacked(std::string_view bytes) {
    Clear();
    return Load(bytes);
  }

 private:
  int64_t window_ms_ = 0;
  TimeLog log_;
};

}  // namespace tally
