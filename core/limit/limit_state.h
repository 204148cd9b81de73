// What a key remembers for its limits.
//
// State is kept by algorithm and period (and unit, week start and zone), never by limit: a limit
// that changes takes effect at once on what has been counted, and two rules that differ only in
// their limits share their state. A state without logs is a few bytes (FIXED 10-12, BUCKET 11-17),
// small enough for the key's own record; the same bytes are its saved form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "core/base/type.h"
#include "core/limit/limit_rule.h"
#include "core/time/time_log.h"

namespace tally {

// Which counters a rule reads: those of its algorithm and period.
struct LimitKey {
  LimitAlgorithm algorithm = LimitAlgorithm::kFixed;
  CalendarUnit unit = CalendarUnit::kDay;
  WeekStart week_start = WeekStart::kMonday;
  uint32_t zone_id = 0;
  int64_t period_ms = 0;

  static LimitKey Of(const LimitRule& rule);
  // Whether its days begin by a zone's clock.
  bool has_zone() const {
    return algorithm == LimitAlgorithm::kCalendar || algorithm == LimitAlgorithm::kBase;
  }
  friend bool operator==(const LimitKey&, const LimitKey&) = default;
};

// The numbers of one algorithm and period. Which of them an algorithm uses:
//   FIXED     window, hits
//   CALENDAR  window, hits           window: the calendar period
//   ROLLING   window, hits, before   window: aligned to multiples of the period since 1970;
//                                    before: the hits of the window before it
//   BUCKET    window.start_ms, hits, refill   hits: what is missing at that instant, in
//                                    1/period_ms of a token; refill: tokens each period from then
//                                    on
//   BASE      day, before; window, hits       before: the hits of the day; hits: of the window
// A window that has ended, or of which nothing is counted, means nothing.
struct LimitNumbers {
  Period window;
  int64_t hits = 0;
  int64_t before = 0;
  int64_t refill = 0;
  Period day;
};

struct LimitCounter {
  LimitKey key;
  LimitNumbers numbers;
  // SLIDING only, which uses no numbers.
  std::unique_ptr<TimeLog> log;
  // Set while one operation applies several rules, so that rules that share this count once.
  bool taken = false;

  // The instant from which nothing in it counts; 0 if nothing does.
  int64_t ExpiresAt() const;
};

// As LimitCounter::ExpiresAt, of an algorithm that keeps numbers.
int64_t ExpiryOf(const LimitKey& key, const LimitNumbers& numbers);

class LimitState {
 public:
  static constexpr Type kType = Type::kLimit;
  // Encodings up to this are worth decoding for each decision and are in the key's record; a
  // state that outgrows it is better kept as an object.
  static constexpr size_t kMaxPackedBytes = 128;
  static constexpr size_t kPadding = 8;

  LimitState() = default;
  LimitState(LimitState&&) noexcept = default;
  LimitState& operator=(LimitState&&) noexcept = default;

  // Adds what Encode or Save wrote; counters that are there already take the hits of logs, and the
  // other counters are replaced. False, with part of it added perhaps, if the bytes are malformed.
  // O(bytes).
  [[nodiscard]] bool Load(std::string_view bytes);
  // Appends the whole state. O(size).
  void Encode(std::string& out) const;
  bool empty() const { return counters_.empty(); }
  // From this instant on nothing in it can count any more, and the key should be gone; 0 if empty.
  int64_t ExpiresAt() const;

  // Gives `count` hits back to every counter, the newest first, never below empty. `at` is the
  // instant of the hit that is taken back: of a log, hits after it stay; a window that opened after
  // it stays as it is. A bucket gets its tokens back whenever they were taken. O(counters + log).
  void Give(int64_t count, int64_t now, int64_t at);

  std::span<const LimitCounter> counters() const { return counters_; }
  // Null if the key has no such counter. O(counters).
  const LimitCounter* Find(const LimitKey& key) const;
  LimitCounter& FindOrAdd(const LimitKey& key);
  void EndOperation() {
    for (LimitCounter& counter : counters_) counter.taken = false;
  }
  // Forgets the counters of which nothing counts any more, and the expired part of logs.
  void Prune(int64_t now);
  // Makes it as new, but keeps room for a log: for one that is loaded again and again.
  void Clear();

  // Hits and counters, as far as freeing them takes time.
  size_t Weight() const;
  size_t MemoryBytes() const;
  std::unique_ptr<LimitState> Clone() const;
  bool FreeSome(size_t budget);
  // A self-contained run of about `max_bytes` for Load, from `cursor` on: 0 begins; the result is
  // the next cursor, 0 at the end.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // The whole state, for the key's record. False, with something appended, if it is too large.
  // With a log it ends in zeros up to a multiple of kPadding: the record need not move each time
  // that the log grows by a byte or two.
  [[nodiscard]] bool SavePacked(std::string& out) const;
  [[nodiscard]] bool LoadPacked(std::string_view bytes) {
    Clear();
    return Load(bytes);
  }

 private:
  absl::InlinedVector<LimitCounter, 2> counters_;
  std::unique_ptr<TimeLog> spare_log_;
};

}  // namespace tally
