// The rules of rate limiting: what may happen how often.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/time/calendar.h"

namespace tally {

// The numbers are in stored state: never renumber.
enum class LimitAlgorithm : uint8_t {
  kFixed = 1,     // a window opens at the first hit; its end never moves
  kCalendar = 2,  // the calendar period of a zone
  kSliding = 3,   // an exact log: at most `limit` hits in any window of the period's length
  kRolling = 4,   // two counters, weighted: approximate, in O(1) memory
  kBucket = 5,    // a token bucket
  kBase = 6,      // from the base-th hit of the day on, at most `limit` a period
  kAllow = 7,
  kDeny = 8,
  // at most `limit` hits a period; the last one starts a block, in which all are denied
  kLockout = 9,
  kConcurrent = 10,  // at most `limit` held at once
  kHolds = 11,       // no rule for hits: how long a hold may last, and how much it may take
};
inline constexpr size_t kLimitAlgorithms = 12;  // including 0, which is not an algorithm

struct PolicyTally;

// How long a LOCKOUT blocks. Without `most_ms` each block has `first_ms`. With it each further
// block is `factor` times as long as the one before, up to `most_ms`, until none was on for
// `most_ms`.
struct LockoutBlock {
  static constexpr int64_t kOne = 1'000;

  int64_t first_ms = 0;
  int64_t factor = kOne;  // in 1/kOne
  int64_t most_ms = 0;    // 0: blocks do not grow

  friend bool operator==(const LockoutBlock&, const LockoutBlock&) = default;
};

// The share of HOLDS is in 1/kWholeShare of a limit, in LimitRule::limit.
inline constexpr int64_t kWholeShare = 1'000;

struct LimitRule {
  LimitAlgorithm algorithm = LimitAlgorithm::kAllow;
  // SHADOW: is judged and counts what it would allow, and never denies. Its counter is its own, so
  // that no rule that denies is changed by it.
  bool shadow = false;
  int64_t limit = 0;      // hits; for a bucket, the tokens it holds
  int64_t period_ms = 0;  // of all but CALENDAR
  int64_t refill = 0;     // BUCKET: tokens each period
  int64_t base = 0;       // BASE
  // BASE: the smallest base of rules that share the counter. LOCKOUT: their smallest limit.
  int64_t shared_base = INT64_MAX;
  CalendarUnit unit = CalendarUnit::kDay;  // CALENDAR
  CalendarStart start = {};       // CALENDAR: where the unit begins; BASE: where its day does
  int64_t from_ms = kNoFrom;      // FIXED: an instant at which a window begins
  LockoutBlock block = {};        // LOCKOUT
  Zone* zone = nullptr;           // CALENDAR, BASE: not owned, outlives the rule's use
  PolicyTally* policy = nullptr;  // null if the rule is not from a policy; not owned

  static constexpr int64_t kNoFrom = -1;  // the first hit opens the window

  static LimitRule Fixed(int64_t limit, int64_t period_ms, int64_t from_ms = kNoFrom);
  static LimitRule Calendar(int64_t limit, CalendarUnit unit, Zone& zone, CalendarStart start = {});
  static LimitRule Sliding(int64_t limit, int64_t period_ms);
  static LimitRule Rolling(int64_t limit, int64_t period_ms);
  static LimitRule Bucket(int64_t capacity, int64_t refill, int64_t period_ms);
  static LimitRule Base(int64_t base, int64_t limit, int64_t period_ms, Zone& zone,
                        CalendarStart start = {});
  static LimitRule Lockout(int64_t limit, int64_t period_ms, const LockoutBlock& block);
  static LimitRule Allow();
  static LimitRule Deny();
  static LimitRule Concurrent(int64_t limit);
  static LimitRule Holds(int64_t longest_ms, int64_t share);

  // Whether the rule's windows are laid down by a calendar or an instant, not by hits.
  bool has_grid() const { return algorithm == LimitAlgorithm::kCalendar || from_ms != kNoFrom; }
  // The window of FIXED, CALENDAR, ROLLING, BASE or LOCKOUT that holds `at_ms` if nothing is
  // counted before that instant.
  Period WindowAt(int64_t at_ms) const;
  // BASE: the day that holds `at_ms`.
  Period DayAt(int64_t at_ms) const { return zone->Containing(at_ms, CalendarUnit::kDay, start); }

  // False for ALLOW, DENY, CONCURRENT and HOLDS, which have no counter.
  bool counts() const {
    return !Is(BitOf(LimitAlgorithm::kAllow) | BitOf(LimitAlgorithm::kDeny) |
               BitOf(LimitAlgorithm::kConcurrent) | BitOf(LimitAlgorithm::kHolds));
  }
  // False for ALLOW and HOLDS, which deny no hit.
  bool judges() const { return !Is(BitOf(LimitAlgorithm::kAllow) | BitOf(LimitAlgorithm::kHolds)); }

 private:
  static constexpr uint32_t BitOf(LimitAlgorithm one) {
    return uint32_t{1} << static_cast<uint32_t>(one);
  }
  bool Is(uint32_t algorithms) const { return (algorithms & BitOf(algorithm)) != 0; }
};

// Returns a text that says which of the rule's numbers is wrong and why; empty if the rule is
// valid. Counts must be in [0, INT64_MAX], periods in (0, kMaxDurationMs], and a refill at least 1;
// capacity * period and refill * period must fit int64. A limit of 0 is valid: it denies
// everything, or with BASE everything after the day's first `base` hits. A block is as a period;
// its factor is at least 1, and its most at least the first one. The share of HOLDS is in (0, 1].
std::string_view ValidationError(const LimitRule& rule);

struct KeyRules {
  std::string_view key;
  std::span<const LimitRule> rules;  // each valid (see ValidationError)
};

}  // namespace tally
