// What the keys of a call know of an id that is held or settled.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/engine/limit_states.h"
#include "core/limit/holds.h"

namespace tally {

// What is wrong with a call about an id.
inline constexpr std::string_view kOtherKeys =
    "key must be each of those that the id is held on, and no other";
inline constexpr std::string_view kTooMany = "the key has limit-max-holds holds and settled ids";

// What the keys of a call know of its id.
struct FoundIds {
  FoundIds(LimitStates& states, std::string_view id);

  // Whether all keys have the id in this state.
  bool AllAre(HoldState state) const {
    return std::ranges::all_of(records,
                               [state](const HoldRecord& one) { return one.state == state; });
  }
  // How the id is settled on some key; kUnknown if it is on none.
  HoldState settled() const {
    for (const HoldRecord& one : records) {
      if (one.state > HoldState::kHeld) return one.state;
    }
    return HoldState::kUnknown;
  }
  // Whether the keys are all those that got the hold.
  bool AreAllKeys() const {
    return std::ranges::all_of(records, [this](const HoldRecord& one) {
      return one.state == HoldState::kUnknown || one.keys == static_cast<int64_t>(records.size());
    });
  }

  absl::InlinedVector<HoldRecord, 2> records;  // kUnknown: the key has none
};

struct KeyAndId {
  std::string_view key;
  std::string_view id;
};
// Prefetches what calls about these ids will read behind their keys, which are in the cache
// already. Takes each step for all of them before the next step, so that their cache misses
// overlap. Affects nothing but time. Of many, the first RecordTable::kMaxPrefetch.
void PrefetchIds(const Keyspace& keyspace, std::span<const KeyAndId> wanted);

// Whether each key may get one more id.
bool HaveRoomForId(LimitStates& states, int64_t max_holds);

// The figures as they are now, of a call that is allowed again.
LimitDecision AllowedNow(std::span<const LimitUse> uses, int64_t now_ms);

}  // namespace tally
