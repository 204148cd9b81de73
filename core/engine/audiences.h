// ACTIVE: who is online, the peaks, and the new and active users of each day.
//
// The effect of a call that has changed a key is the same call with the same instants. It can be
// replayed at any later time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/active/active_set.h"
#include "core/engine/place.h"

namespace tally {

class Audiences {
 public:
  explicit Audiences(const Place& place) : place_(place) {}

  // Creates an empty set, unless the key exists.
  KeyOutcome Create(std::string_view key, ActiveOptions options);

  enum class Refusal {
    kNone,
    kMissingZone,  // the set's zone is_missing(), so it is not known where days begin
    kNoNumbers     // the set has fewer numbers left than the call has ids
  };
  struct Touched : KeyOutcome {
    Refusal refusal = Refusal::kNone;
    uint32_t online = 0;
  };
  // Records an event of each id; an id has at most IdBook::kMaxIdBytes bytes. If the key is absent,
  // creates a set with the default options. A logged event has the `forget_at_ms` of when it was
  // judged; for others it is that of the place. See ActiveSet::Touch.
  Touched Touch(std::string_view key, std::span<const std::string_view> ids, EventInstants time,
                std::optional<int64_t> forget_at_ms = {});

  // Changes options of a set; those that are not given stay. `forget_at_ms` as for Touch.
  struct Change {
    std::optional<int64_t> window_ms = {};
    std::optional<int64_t> keep_ms = {};
    int64_t judged_at_ms = 0;
    int64_t forget_at_ms = 0;
  };
  struct Altered : KeyOutcome {
    bool missing_zone = false;
  };
  Altered Alter(std::string_view key, const Change& change);

  // Sets `forgotten` to how many of the ids were known.
  KeyOutcome Forget(std::string_view key, std::span<const std::string_view> ids,
                    int64_t& forgotten);

  // Returns the set, for calls that only read; null if the key is absent or has another type. Valid
  // until the engine next changes.
  ActiveSet* Find(std::string_view key, KeyOutcome& outcome);

 private:
  Place place_;
};

}  // namespace tally
