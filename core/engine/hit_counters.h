// HITS: counts exactly how often something has happened in a sliding window.
//
// The effect of a call that has changed a key is the same call with the same instants. It can be
// replayed at any later time. Where an Add with a cap has added hits, the cap of its effect is
// Hits::kNoCap. Where an Add has only set hits back (Hits::SetBack), its effect adds no hits.
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
  int64_t hits = 0;       // in the window that ends now
  int64_t newest_ms = 0;
  int64_t ends_ms = 0;  // from then on no hit counts any more
};

// Arguments must be in the ranges that hits.h gives.
class HitCounters {
 public:
  explicit HitCounters(const Place& place) : place_(place) {}

  struct Addition {
    int64_t window_ms = 0;
    int64_t count = 1;
    // Add nothing if the window already holds this many. With a cap the Add goes by event time.
    std::optional<int64_t> cap = {};
    EventInstants time;
  };
  struct Added : KeyOutcome {
    bool set_back = false;  // nothing was added: hits were only set back
  };
  // Sets `in_window` to the hits in the window, the added ones included. If the window already
  // holds `cap`, adds nothing and sets `in_window` to nullopt. Amortised O(1) for hits in order.
  Added Add(std::string_view key, const Addition& add, std::optional<int64_t>& in_window);

  // Sets `hits` to the number of hits in the window that ends at `time.at`. A `window_ms` of 0
  // means the key's own window.
  KeyOutcome Count(std::string_view key, int64_t window_ms, EventInstants time, int64_t& hits);

  // Takes the `count` newest hits back; sets `left` to the hits left in the key's window.
  KeyOutcome Undo(std::string_view key, int64_t count, int64_t judged_at_ms, int64_t& left);

  // Sets `hits` to the number of hits in each step of [from_ms, to_ms). There must be at most
  // Hits::kMaxRangeSteps steps (asserted).
  KeyOutcome Range(std::string_view key, int64_t from_ms, int64_t to_ms, int64_t step_ms,
                   std::vector<int64_t>& hits);

  // Sets `shown`; leaves it as it is if the key is absent or has another type. Costs as Count.
  KeyOutcome Show(std::string_view key, HitsShown& shown);

 private:
  Place place_;
};

}  // namespace tally
