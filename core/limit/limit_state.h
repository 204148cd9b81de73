// What a key remembers for its limits.
//
// Counters are kept by algorithm and period (and unit, start and zone), never by limit. So a
// changed limit takes effect at once on what has been counted, and two rules that differ only in
// their limits share a counter. A state without logs is a few bytes (FIXED 10-12, BUCKET 11-17),
// small enough for the key's own record; the same bytes are its saved form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "core/base/type.h"
#include "core/limit/limit_rule.h"
#include "core/time/time_log.h"

namespace tally {

// Identifies the counter that a rule uses: that of its algorithm and period.
struct LimitKey {
  int64_t period_ms = 0;
  // CALENDAR, BASE: the code of the start. FIXED: 1 + where in the period its windows begin,
  // counted from 1970 on; 0 if a hit opens them.
  int64_t start = 0;
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
//   those
//                                    that grew, or minus it if the block was taken back, so that
//                                    it is not on; refill: how long after its end it is
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
  // Forgets everything but its key.
  void Clear();

  // What a hold has counted: `hits` at the instant `at`, of which `in_window` are in the window of
  // BASE. BUCKET: `in_window` is what the hold took at first, so that the difference is used.
  struct Part {
    int64_t hits = 0;
    int64_t in_window = 0;
    int64_t at = 0;
    int64_t now = 0;  // when it is given back
  };
  // Gives back a part, unless its window is over. A bucket gets its tokens back but those that may
  // have come back by its refill since: or else who waits and cancels would have them twice.
  void Refund(const Part& part);
  // Counts hits at `now` in what is counting then.
  void CountMore(int64_t hits, int64_t now);
};

static_assert(sizeof(LimitCounter) == 96, "a state with logs has as many bytes as ever");
// The same for numbers that are not of SLIDING.
void Refund(LimitNumbers& numbers, const LimitKey& key, const LimitCounter::Part& part,
            int64_t late_ms);

// From which instant that a rule is judged at nothing counts any more; 0 if nothing counts. For an
// algorithm that uses numbers.
int64_t ExpiryOf(const LimitKey& key, const LimitNumbers& numbers);
// From when on the rule is wholly unused, if it is judged at `e`: as ExpiryOf, but for a block that
// is only remembered.
int64_t UnusedFrom(const LimitKey& key, const LimitNumbers& numbers, int64_t e);

class Holds;

class LimitState {
 public:
  static constexpr Type kType = Type::kLimit;
  // A state with an encoding of at most this many bytes is in the key's record and is decoded for
  // each decision. A larger state is kept as an object, since decoding it would take too long.
  static constexpr size_t kMaxPackedBytes = 128;
  static constexpr size_t kPadding = 8;
  // Load refuses more counters. Their number must be bounded, because they are found one by one.
  // Far above what decisions give a key: see Limits::kMaxCounters.
  static constexpr size_t kMostLoaded = 65'535;

  LimitState();
  ~LimitState();
  LimitState(LimitState&&) noexcept;
  LimitState& operator=(LimitState&&) noexcept;

  // Adds the counters that Encode or Save wrote. If a counter is there already, a log's hits are
  // added to it, and other numbers are replaced. Returns false if the bytes are malformed; a part
  // of them may then be added. O(bytes).
  [[nodiscard]] bool Load(std::string_view bytes);
  // Appends the whole state. O(size).
  void Encode(std::string& out) const;
  bool empty() const { return counters_.empty() && holds_ == nullptr; }
  // The instant from which nothing in it counts any more, so that the key should go; 0 if empty.
  int64_t ExpiresAt() const;

  // Refunds `count` hits in every counter, the newest first, and never more than are counted. `at`
  // is the instant of the refunded hit: a log keeps the hits after it, and a window that opened
  // after it stays as it is. What was counted after `now` counts as counted at `now`. A bucket gets
  // its tokens back whenever they were taken. What is held is not given back. Also prunes.
  // O(counters + log + holds).
  void Give(int64_t count, int64_t now, int64_t at);

  std::span<const LimitCounter> counters() const { return counters_; }
  std::span<LimitCounter> counters() { return {counters_.data(), counters_.size()}; }
  // What is held, and the ids that are settled; null for most keys.
  Holds* holds() const { return holds_.get(); }
  Holds& FindOrAddHolds();
  // Forgets the holds if there are none.
  void DropEmptyHolds();
  // Returns null if there is no such counter. O(counters).
  const LimitCounter* Find(const LimitKey& key) const;
  LimitCounter* Find(const LimitKey& key) {
    return const_cast<LimitCounter*>(std::as_const(*this).Find(key));
  }
  LimitCounter& FindOrAdd(const LimitKey& key);
  void EndOperation() {
    for (LimitCounter& counter : counters_) counter.taken = false;
  }
  // Forgets the counters in which nothing counts at `now`, and the expired hits of logs.
  void Prune(int64_t now);
  // Empties the state, but keeps the memory of a log, for a state that is loaded again and again.
  void Clear();

  // The number of counters and of hits in logs, which take time to free.
  size_t Weight() const;
  size_t MemoryBytes() const;
  static constexpr std::string_view encoding() { return "counters"; }
  std::unique_ptr<LimitState> Clone() const;
  bool FreeSome(size_t budget);
  // Appends a self-contained run of about `max_bytes` for Load, from `cursor` on (0 begins).
  // Returns the next cursor, 0 at the end.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Appends the whole state, for the key's record, to `out`, which must be empty (asserted).
  // Returns false if the state is too large; `out` may then hold a part of it. A state with a log
  // is padded with zeros to a multiple of kPadding, so that the record does not move each time that
  // the log grows by a byte or two.
  [[nodiscard]] bool SavePacked(std::string& out) const;
  [[nodiscard]] bool LoadPacked(std::string_view bytes) {
    Clear();
    return Load(bytes);
  }

 private:
  absl::InlinedVector<LimitCounter, 2> counters_;
  std::unique_ptr<TimeLog> spare_log_;
  std::unique_ptr<Holds> holds_;
};

}  // namespace tally
