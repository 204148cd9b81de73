#include "core/table/due_segments.h"

namespace tally {

void DueSegments::Schedule(Segment& segment, int64_t due) {
  if (segment.due != Segment::kNothingDue) segments_.erase({segment.due, &segment});
  segment.due = due;
  Add(segment);
}

void DueSegments::Add(Segment& segment) {
  if (segment.due != Segment::kNothingDue) segments_.emplace(segment.due, &segment);
}

DueSegments::Segment* DueSegments::Next(Position& position) const {
  const auto next = segments_.upper_bound({position.due, position.segment});
  if (next == segments_.end()) return nullptr;
  position = {next->first, next->second};
  return next->second;
}

}  // namespace tally
