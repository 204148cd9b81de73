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
  kConcurrent = 10,  // at most `limit` held at once
};
inline constexpr size_t kLimitAlgorithms = 11;  // including 0, which is not an algorithm

struct PolicyTally;

struct LimitRule {
  LimitAlgorithm algorithm = LimitAlgorithm::kAllow;
  int64_t limit = 0;                          // hits; for a bucket, the tokens it holds
  int64_t period_ms = 0;                      // FIXED, SLIDING, ROLLING, BUCKET, BASE
  int64_t refill = 0;                         // BUCKET: tokens each period
  int64_t base = 0;                           // BASE
  int64_t shared_base = INT64_MAX;            // BASE: smallest base of rules that share the counter
  CalendarUnit unit = CalendarUnit::kDay;     // CALENDAR
  WeekStart week_start = WeekStart::kMonday;  // CALENDAR week
  Zone* zone = nullptr;                       // CALENDAR, BASE: not owned, outlives the rule's use
  PolicyTally* policy = nullptr;              // null if the rule is not from a policy; not owned

  static LimitRule Fixed(int64_t limit, int64_t period_ms);
  static LimitRule Calendar(int64_t limit, CalendarUnit unit, Zone& zone,
                            WeekStart week_start = WeekStart::kMonday);
  static LimitRule Sliding(int64_t limit, int64_t period_ms);
  static LimitRule Rolling(int64_t limit, int64_t period_ms);
  static LimitRule Bucket(int64_t capacity, int64_t refill, int64_t period_ms);
  static LimitRule Base(int64_t base, int64_t limit, int64_t period_ms, Zone& zone);
  static LimitRule Allow();
  static LimitRule Deny();
  static LimitRule Concurrent(int64_t limit);

  // False for ALLOW and DENY, and for CONCURRENT, which have no counter.
  bool counts() const {
    return algorithm != LimitAlgorithm::kAllow && algorithm != LimitAlgorithm::kDeny &&
           algorithm != LimitAlgorithm::kConcurrent;
  }
};

// Returns a text that says which of the rule's numbers is wrong and why; empty if the rule is
// valid. Counts must be in [0, INT64_MAX], periods in (0, kMaxDurationMs], and a refill at least 1;
// capacity * period and refill * period must fit int64. A limit of 0 is valid: it denies
// everything, or with BASE everything after the day's first `base` hits.
std::string_view WrongWith(const LimitRule& rule);

struct KeyRules {
  std::string_view key;
  std::span<const LimitRule> rules;  // each valid (see WrongWith)
};

}  // namespace tally
