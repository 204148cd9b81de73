// HITS: how often something has happened in a sliding window, exact.
//
// The effect of what has changed a key is the same call with the same instants, at any later time;
// of Add without its cap: what was refused has no effect.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/engine/place.h"
#include "core/hits/hits.h"

namespace tally {

// What a key holds. Instants in unix ms.
struct HitsShown {
  int64_t window_ms = 0;  // for how long hits are kept
  int64_t hits = 0;       // in that window now
  int64_t newest_ms = 0;
  int64_t ends_ms = 0;  // when nothing of it counts any more
};

// Arguments are in the ranges that Hits says.
class HitCounters {
 public:
  explicit HitCounters(const Place& place) : place_(place) {}

  struct Addition {
    int64_t window_ms = 0;
    int64_t count = 1;
    int64_t cap = Hits::kNoCap;  // add nothing if the window holds this many
    EventInstants time;
  };
  // Sets `in_window` to the hits in the window with these; to nothing where `cap` is reached.
  // Amortised O(1).
  KeyOutcome Add(std::string_view key, const Addition& add, std::optional<int64_t>& in_window);

  // Sets `hits` to those in the window that ends at `time.at`; `window_ms` 0 is the key's own.
  KeyOutcome Count(std::string_view key, int64_t window_ms, EventInstants time, int64_t& hits);

  // Takes the `count` newest hits back; sets `left` to the hits left in the key's window.
  KeyOutcome Undo(std::string_view key, int64_t count, int64_t judged_at, int64_t& left);

  // Sets `hits` to those of each step of [from_ms, to_ms); at most Hits::kMaxRangeSteps.
  KeyOutcome Range(std::string_view key, int64_t from_ms, int64_t to_ms, int64_t step_ms,
                   std::vector<int64_t>& hits);

  // Leaves `shown` as it is if there is no such key. As Count.
  KeyOutcome Show(std::string_view key, HitsShown& shown);

 private:
  Place place_;
};

}  // namespace tally
