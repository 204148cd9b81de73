// The rules that a hold is under, as its record keeps them.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
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
inline constexpr int64_t kMaxHoldToken = kMaxInstantMs;

using HoldKeys = absl::InlinedVector<LimitKey, 2>;

// What the counters need to know of the rules but HOLDS: which counters they use, each once, in the
// order of the rules, whether CONCURRENT is one of them, and how many bytes AppendDenyingRules and
// what follows it have written.
struct HoldCounters {
  HoldKeys keys;
  bool concurrent = false;
  bool shadow_concurrent = false;
  size_t denying_bytes = 0;
  size_t counting_bytes = 0;  // with those in SHADOW, but without HOLDS

  // Whether there is a CONCURRENT rule, or one in SHADOW.
  bool is_concurrent(bool in_shadow) const { return in_shadow ? shadow_concurrent : concurrent; }

  friend bool operator==(const HoldCounters&, const HoldCounters&) = default;
};

using HoldRules = absl::InlinedVector<LimitRule, 4>;

// The saved form of the rules that count or limit what is held from `now_ms` on: first those that
// deny, then those in SHADOW, and HOLDS. A rule's policy is not kept.
void AppendHoldRules(std::string& out, std::span<const LimitRule> rules, int64_t now_ms);
// The part of the saved form that the rules which deny are in.
void AppendDenyingRules(std::string& out, std::span<const LimitRule> rules);
// False if the bytes are malformed.
[[nodiscard]] bool ReadHoldRules(std::string_view in, ZoneSource& zones, HoldRules& rules);

// These are of rules that are well formed.
//
// The latest deadline that HOLDS allows; kMaxHoldEndMs without one.
int64_t LatestDeadline(std::string_view rules);
// That deadline is earlier by so much.
void SetBackLatest(std::string& rules, int64_t by_ms);

// Reads the counters of rules in their saved form. False if they are malformed.
[[nodiscard]] bool ReadHoldCounters(std::string_view in, HoldCounters& counters);

// Reads the counters of many holds, most of which are under the same rules.
class HoldCountersReader {
 public:
  // `rules` are well formed. What is returned is valid until the next call that reads others.
  const HoldCounters& Of(std::string_view rules);
  // What Of has returned last, and a number that changes when it returns others.
  const HoldCounters& last() const { return counters_; }
  uint64_t version() const { return version_; }

 private:
  HoldCounters counters_;
  std::string counting_;  // the rules that the counters are of
  uint64_t version_ = 0;
};

}  // namespace tally
