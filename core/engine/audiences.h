// ACTIVE: who is online, the peaks, and the new and active users of each day.
//
// The effect of what has changed a key is the same call with the same instants, at any later time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/active/active_set.h"
#include "core/engine/place.h"

namespace tally {

class Audiences {
 public:
  explicit Audiences(const Place& place) : place_(place) {}

  // Makes an empty set, unless the key is there.
  KeyOutcome Create(std::string_view key, ActiveOptions options);

  enum class Refusal {
    kNone,
    kMissingZone,  // days cannot be distinguished: the set's zone is_missing()
    kNoNumbers     // the set has given all its numbers
  };
  struct Touched : KeyOutcome {
    Refusal refusal = Refusal::kNone;
    uint32_t online = 0;
  };
  // An event of each id, of at most IdBook::kMaxIdBytes; the first makes a set with the defaults.
  // As ActiveSet::Touch.
  Touched Touch(std::string_view key, std::span<const std::string_view> ids, EventInstants time);

  // Sets `forgotten` to how many of the ids were known.
  KeyOutcome Forget(std::string_view key, std::span<const std::string_view> ids,
                    int64_t& forgotten);

  // For everything that only reads: the set, null if the key is absent or of another type. Valid
  // until the engine next changes.
  ActiveSet* Find(std::string_view key, KeyOutcome& outcome);

 private:
  Place place_;
};

}  // namespace tally
