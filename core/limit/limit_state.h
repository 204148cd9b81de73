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
#include "core/limit/limit_counter.h"
#include "core/time/time_log.h"

namespace tally {

class Holds;

// What the holds held under CONCURRENT rules, and such in SHADOW, that have ended in a view.
struct EndedHolds {
  int64_t concurrent = 0;
  int64_t shadow_concurrent = 0;
};

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
  // The same without the holds.
  void EncodeCounters(std::string& out) const;
  bool empty() const { return counters_.empty() && holds_ == nullptr; }
  // The instant from which nothing in it counts any more, so that the key should go; 0 if empty.
  int64_t ExpiresAt() const;

  // Refunds `count` hits in every counter, the newest first, and never more than are counted.
  // `at_ms` is the instant of the refunded hit: a log keeps the hits after it, and a window that
  // opened after it stays as it is. What was counted after `now_ms` counts as counted at `now_ms`.
  // A bucket gets its tokens back whenever they were taken. What is held is not given back. Also
  // prunes. O(counters + log + holds).
  void Give(int64_t count, int64_t now_ms, int64_t at_ms);

  std::span<const LimitCounter> counters() const { return counters_; }
  std::span<LimitCounter> counters() { return {counters_.data(), counters_.size()}; }
  // What is held, and the ids that are settled; null for most keys.
  Holds* holds() const { return holds_.get(); }
  // What the holds under a CONCURRENT rule, or one in SHADOW, hold together.
  int64_t concurrent(bool shadow) const;
  Holds& FindOrAddHolds();
  // Forgets the holds if there are none.
  void DropEmptyHolds();
  // Returns null if there is no such counter. O(counters).
  const LimitCounter* Find(const LimitKey& key) const;
  LimitCounter* Find(const LimitKey& key) {
    return const_cast<LimitCounter*>(std::as_const(*this).Find(key));
  }
  LimitCounter& FindOrAdd(const LimitKey& key);
  // Returns in how many counters the operation has counted; if in all, none of them has expired.
  size_t EndOperation() {
    size_t counted = 0;
    for (LimitCounter& counter : counters_) {
      counted += counter.taken;
      counter.taken = false;
    }
    return counted;
  }
  // Forgets the counters in which nothing counts at `now_ms`, and the expired hits of logs.
  void Prune(int64_t now_ms);
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
  friend class SettledView;

  void CopyCounters(const LimitState& from);

  absl::InlinedVector<LimitCounter, 2> counters_;
  std::unique_ptr<TimeLog> spare_log_;
  std::unique_ptr<Holds> holds_;
  const EndedHolds* ended_ = nullptr;  // of a SettledView
  // Guesses, right or not, of where to look first: the counter that was found last, and the one
  // that was the last to expire when ExpiresAt was asked.
  mutable size_t found_ = 0;
  mutable size_t last_ = 0;
};

}  // namespace tally
