// The segments of a table that hold deadlines, in the order in which they are searched for expired
// records.
#pragma once

#include <absl/container/btree_set.h>

#include <cstdint>
#include <utility>

#include "core/table/record_table.h"

namespace tally {

// Keeps Segment::due, the instant in unix ms at which the segment is to be searched. Segments with
// kNothingDue are not in here. The segments must outlive their entries: see Clear.
class DueSegments {
 public:
  using Segment = RecordTable::Segment;

  // A position in the order; a default-constructed one is before all segments.
  struct Position {
    int64_t due_ms = INT64_MIN;
    Segment* segment = nullptr;
  };

  // Sets when the segment is due; kNothingDue takes it out. O(log segments).
  void Schedule(Segment& segment, int64_t due_ms);
  // Makes the segment due at `deadline_ms` unless it is due earlier. O(1) if it is.
  void Note(Segment& segment, int64_t deadline_ms) {
    if (deadline_ms < segment.due_ms) Schedule(segment, deadline_ms);
  }
  // Adds a new segment that already has its `due_ms`, because another one was split.
  void Add(Segment& segment);

  // The segment that has been due longest; null if none is due at `now_ms`. O(1).
  Segment* First(int64_t now_ms) const {
    return segments_.empty() || segments_.begin()->first > now_ms ? nullptr
                                                                  : segments_.begin()->second;
  }
  // For how many ms the first segment has been due; 0 if none is. O(1).
  int64_t LagMs(int64_t now_ms) const {
    const Segment* first = First(now_ms);
    return first == nullptr ? 0 : now_ms - first->due_ms;
  }
  // Returns the segment after `position` and moves `position` to it; null at the end. O(log
  // segments).
  Segment* Next(Position& position) const;

  // Forgets all segments without looking at them. O(segments).
  void Clear() { segments_.clear(); }

 private:
  absl::btree_set<std::pair<int64_t, Segment*>> segments_;
};

}  // namespace tally
