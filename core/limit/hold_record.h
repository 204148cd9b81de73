// What a key remembers of an id: a hold, or how the hold or the hit of that id ended.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/limit/limit_rule.h"
#include "core/limit/limit_state.h"
#include "core/time/duration.h"
#include "core/time/zone_source.h"

namespace tally {

// No hold lasts longer, and no record ends later.
inline constexpr int64_t kMaxHoldMs = int64_t{366} * 86'400'000;
inline constexpr int64_t kMaxHoldEndMs = 2 * kMaxInstantMs;

// The numbers are in stored state and in replies: never renumber.
enum class HoldState : uint8_t {
  kUnknown = 0,
  kHeld = 1,
  kCommitted = 2,
  kExpired = 3,
  kCancelled = 4
};

// Where one counter has counted what is held.
struct HoldShare {
  int64_t at = 0;  // the instant that was counted
  // BASE: how much of it the window has counted; the day has all of it. BUCKET: as much as the part
  // had at first, less what was given back.
  int64_t in_window = 0;

  friend bool operator==(const HoldShare&, const HoldShare&) = default;
};

// What one call took for a hold.
struct HoldPart {
  int64_t cost = 0;
  int64_t at = 0;
  absl::InlinedVector<HoldShare, 2> shares;  // of each counter of the rules, in their order

  friend bool operator==(const HoldPart&, const HoldPart&) = default;
};

struct HoldRecord {
  HoldState state = HoldState::kUnknown;
  int64_t until = 0;  // kHeld: the deadline. Otherwise: when it is forgotten
  int64_t keys = 1;   // how many keys hold the id
  // kHeld only.
  int64_t token = 0;
  absl::InlinedVector<HoldPart, 1> parts;
  std::string rules;  // their saved form; also kept of what expired or was cancelled
  // What was held and what was counted when it was settled; of a hold, what was counted so far.
  int64_t held = 0;
  int64_t counted = 0;

  int64_t cost() const {
    int64_t sum = 0;
    for (const HoldPart& part : parts) sum += part.cost;
    return sum;
  }
  friend bool operator==(const HoldRecord&, const HoldRecord&) = default;
};

void AppendHoldRecord(std::string& out, const HoldRecord& record);
// Reads all of `in`. False if it is malformed.
[[nodiscard]] bool ReadHoldRecord(std::string_view in, HoldRecord& record);
// When the record ends: HoldRecord::until. `in` must be well formed.
int64_t UntilOf(std::string_view in);

using HoldRules = absl::InlinedVector<LimitRule, 4>;
using HoldKeys = absl::InlinedVector<LimitKey, 2>;

// The saved form of the rules that count or limit what is held from `now` on: first those that
// deny, then those in SHADOW, and HOLDS. A rule's policy is not kept.
void AppendHoldRules(std::string& out, std::span<const LimitRule> rules, int64_t now);
// The part of the saved form that the rules which deny are in.
void AppendDenyingRules(std::string& out, std::span<const LimitRule> rules);
// False if the bytes are malformed.
[[nodiscard]] bool ReadHoldRules(std::string_view in, ZoneSource& zones, HoldRules& rules);

// What the counters need to know of the rules: which counters they use, each once, in the order of
// the rules, whether CONCURRENT is one of them, what HOLDS says, and how many bytes
// AppendDenyingRules has written.
struct HoldCounters {
  HoldKeys keys;
  bool concurrent = false;
  bool shadow_concurrent = false;
  int64_t latest = kMaxHoldEndMs;  // the latest deadline
  int64_t share = kWholeShare;     // the largest share of a limit, in 1/kWholeShare
  size_t denying_bytes = 0;
};
[[nodiscard]] bool ReadHoldCounters(std::string_view in, HoldCounters& counters);

}  // namespace tally
