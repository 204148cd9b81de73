// The holds of a key and the ids that are settled, by id and in the order in which they end.
//
// Records are packed in a table (core/table/record_table.h): a hold costs about 35 bytes beside its
// id. The table's segments are in the order of what ends first in each, so that nothing is
// scanned for what has ended but the segments that hold it.
#pragma once

#include <absl/functional/function_ref.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/limit/hold_record.h"
#include "core/table/due_segments.h"
#include "core/table/record_table.h"

namespace tally {

class Holds final : private RecordTable::SplitObserver {
 public:
  static constexpr size_t kMaxIdBytes = 256;
  static constexpr int64_t kRememberedMs = kHoldRememberedMs;
  static constexpr size_t kMostSearched = 1'000;

  using VisitHold =
      absl::FunctionRef<void(const HoldView& hold, const HoldCountersReader& counters)>;

  Holds();
  ~Holds();
  Holds(const Holds&) = delete;
  Holds& operator=(const Holds&) = delete;

  // Holds and settled ids.
  size_t size() const { return table_.size(); }
  bool empty() const { return table_.empty(); }
  // Reads what is known of the id into a new record; false if nothing is. O(1).
  bool Find(std::string_view id, HoldCountersReader& counters, HoldRecord& record) const;
  // Prefetches what Find, Add and Put will read for an id, in two steps; see RecordTable.
  uint64_t Hash(std::string_view id) const { return table_.Hash(id); }
  void PrefetchSegment(uint64_t hash) const { table_.PrefetchSegment(hash); }
  void PrefetchPlace(uint64_t hash) const { table_.PrefetchInsertion(hash); }
  // Adds an id that is not known. O(1) amortised.
  void Add(std::string_view id, const HoldRecord& record);
  // Adds the id or replaces its record, whose `until_ms` must not be earlier than it was. O(1)
  // amortised.
  void Put(std::string_view id, const HoldRecord& record);
  void Erase(std::string_view id);

  // The token of the next hold; each call returns a greater one. Not less than `now_ms`, so that
  // the tokens of a key also grow when it was gone meanwhile. Only a state that was made up by hand
  // comes to the greatest, which is then given again.
  int64_t NextToken(int64_t now_ms) {
    return last_token_ = std::min(std::max(last_token_ + 1, now_ms), kMaxHoldToken);
  }
  int64_t last_token() const { return last_token_; }
  // What the holds under a CONCURRENT rule, or one in SHADOW, hold together.
  int64_t concurrent(bool shadow) const { return concurrent_[shadow].held; }
  // The latest deadline of those that hold something, or 0. With more than kMostSearched ids it may
  // be later, but at most kForgetStepMs after the latest of all that is remembered. O(1), and
  // O(ids) after the hold that ends last was settled.
  int64_t LatestConcurrent(bool shadow) const;
  // A hold counts from an instant after `now_ms`: the clock was set back.
  bool IsAhead(int64_t now_ms) const { return latest_at_ms_ > now_ms; }
  // Whether something may have ended at `now_ms`. O(1).
  bool MayHaveEnded(int64_t now_ms) const { return due_.First(now_ms) != nullptr; }
  // Ends the holds whose deadlines have passed at `now_ms`, calls visit(hold, counters) for each,
  // and forgets the ids whose time is over. Returns whether there was anything. O(records) of the
  // segments in which something has ended, at a few ns each: one call may end all.
  bool End(int64_t now_ms, VisitHold visit);
  // Visits the holds that End would end, and ends nothing.
  void ForEachEnded(int64_t now_ms, VisitHold visit) const;
  // From when on nothing in here is remembered.
  int64_t ends_at_ms() const { return ends_at_ms_; }

  // These must not change anything.
  void ForEachHeld(VisitHold visit) const;
  void ForEach(absl::FunctionRef<void(std::string_view id, const HoldRecord& record)> visit) const;
  // The same with the bytes of the records, which are the same wherever the same was done.
  void ForEachRecord(
      absl::FunctionRef<void(std::string_view id, std::string_view record)> visit) const;
  // The `most` holds that end first after `now_ms`, in the order in which they do. O(records) of
  // the segments that may hold them, and O(most log most).
  std::vector<HoldView> FirstToEnd(int64_t now_ms, size_t most) const;
  // The ids whose holds are at an instant after `now_ms`. O(n).
  std::vector<std::string> AheadOf(int64_t now_ms) const;
  // No hold is at an instant after `now_ms` any more. O(n).
  void NoteSetBack(int64_t now_ms);

  // Appends a self-contained run of about `max_bytes` for Load, from `cursor` on (0 begins);
  // returns the next cursor, 0 at the end.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Adds the run at the front of `in` and removes it. False if it is malformed.
  [[nodiscard]] bool Load(std::string_view& in);
  std::unique_ptr<Holds> Clone() const;
  size_t MemoryBytes() const;
  bool FreeSome(size_t budget);

 private:
  using Segment = RecordTable::Segment;

  void OnSplit(Segment& from, Segment& into) override;
  // What the holds under a CONCURRENT rule are together.
  struct Concurrent {
    static constexpr int64_t kUnknown = -1;

    int64_t held = 0;
    mutable int64_t latest_ms = 0;  // the deadline of the last; kUnknown: to be looked for
  };

  // Keep the sums up to date.
  void NoteAdded(const HoldRecord& record);
  void NoteGone(std::string_view bytes);
  void NoteEnded(const HoldCounters& counters, const HoldView& hold);
  // Adds an id that is not known; `bytes` are those of the record.
  void Add(std::string_view id, const HoldRecord& record, std::string_view bytes);
  // Writes the bytes to the place of the id, and notes when the record ends.
  void Store(const RecordTable::Record& place, const HoldRecord& record, std::string_view bytes);

  RecordTable table_;
  DueSegments due_;
  int64_t last_token_ = 0;
  std::array<Concurrent, 2> concurrent_;  // by whether in SHADOW
  int64_t latest_at_ms_ = 0;              // no instant of a part or share is later
  int64_t ends_at_ms_ = 0;
};

}  // namespace tally
