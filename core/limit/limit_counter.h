// One counter of a key: what it is for, its numbers, and until when it counts.
#pragma once

#include <cstdint>
#include <memory>

#include "core/limit/limit_rule.h"
#include "core/time/time_log.h"

namespace tally {

// Identifies the counter that a rule uses: that of its algorithm and period.
struct LimitKey {
  int64_t period_ms = 0;
  // CALENDAR, BASE: the code of the start. FIXED: 1 + where in the period its windows begin,
  // counted from 1970 on; 0 if a hit opens them.
  int64_t start_ms = 0;
  uint32_t zone_id = 0;
  LimitAlgorithm algorithm = LimitAlgorithm::kFixed;
  CalendarUnit unit = CalendarUnit::kDay;
  bool shadow = false;

  static LimitKey Of(const LimitRule& rule);
  // Sets what Of() reads from a rule, but for the zone.
  void ToRule(LimitRule& rule) const;
  // Whether the counter's periods or days begin by the clock of a zone.
  bool has_zone() const {
    return algorithm == LimitAlgorithm::kCalendar || algorithm == LimitAlgorithm::kBase;
  }
  friend bool operator==(const LimitKey&, const LimitKey&) = default;
};

// The numbers of one algorithm and period. Which of them an algorithm uses:
//   FIXED     window, hits
//   CALENDAR  window, hits           window: the calendar period
//   ROLLING   window, hits, before   window: begins with its first hit; before: how many hits of
//                                    the windows before it still counted then
//   BUCKET    window.start_ms, hits, refill   hits: what is missing at start_ms, in 1/period_ms of
//                                    a token; refill: tokens each period from start_ms on
//   BASE      day, before; window, hits       before: the hits of the day; hits: of the window
//   LOCKOUT   window, hits; day, before, refill   day: the last block; before: its place among
//                                    those that grew, or minus it if the block was taken back, so
//                                    that it is not on; refill: how long after its end it is
//                                    remembered. 0, and no meaning, if there is none
// A window that has ended, or in which nothing is counted, has no meaning.
struct LimitNumbers {
  Period window;
  int64_t hits = 0;
  int64_t before = 0;
  int64_t refill = 0;
  Period day;
};

struct LimitCounter {
  [[no_unique_address]] LimitKey key;
  // Set when an operation has counted its hit here, so that rules that share the counter count the
  // hit once. It is in the padding after the key.
  bool taken = false;
  LimitNumbers numbers;
  // Only SLIDING has a log, and it uses no numbers.
  std::unique_ptr<TimeLog> log;
  // How late the hits were that still count: the counter lives that much longer, so that hits which
  // are as late find it. 0 for most.
  int64_t late_ms = 0;

  // The instant, of the server's clock, from which nothing in it counts any more; 0 if nothing
  // counts.
  int64_t ExpiresAt() const;
  // Whether that is `instant_ms` or before it. Without a division: each decision asks all counters
  // of its key so.
  bool HasExpiredAt(int64_t instant_ms) const {
    if (key.algorithm > LimitAlgorithm::kCalendar) return OtherHasExpiredAt(instant_ms);
    return numbers.hits == 0 || numbers.window.end_ms <= instant_ms - late_ms;
  }
  // Forgets everything but its key.
  void Clear();

  // Counts hits at `now_ms` in what is counting then.
  void CountMore(int64_t hits, int64_t now_ms);
  // Takes `count` hits back, if they may be in it: see LimitState::Give for `at_ms`. `e_ms` is when
  // the latest hits are judged.
  void Give(int64_t count, int64_t at_ms, int64_t e_ms);

 private:
  bool OtherHasExpiredAt(int64_t instant_ms) const;
};

static_assert(sizeof(LimitCounter) == 96, "a state with logs has as many bytes as ever");

// From which instant that a rule is judged at nothing counts any more; 0 if nothing counts. For an
// algorithm that uses numbers.
int64_t ExpiryOf(const LimitKey& key, const LimitNumbers& numbers);
// From when on the rule is wholly unused, if it is judged at `e_ms`: as ExpiryOf, but for a block
// that is only remembered.
int64_t UnusedFrom(const LimitKey& key, const LimitNumbers& numbers, int64_t e_ms);

}  // namespace tally
