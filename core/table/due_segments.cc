#include "core/table/due_segments.h"

namespace tally {

void DueSegments::Schedule(Segment& segment, int64_t due_ms) {
  if (segment.due_ms != Segment::kNothingDue) segments_.erase({segment.due_ms, &segment});
  segment.due_ms = due_ms;
  Add(segment);
}

void DueSegments::Add(Segment& segment) {
  if (segment.due_ms != Segment::kNothingDue) segments_.emplace(segment.due_ms, &segment);
}

DueSegments::Segment* DueSegments::Next(Position& position) const {
  const auto next = segments_.upper_bound({position.due_ms, position.segment});
  if (next == segments_.end()) return nullptr;
  position = {next->first, next->second};
  return next->second;
}

}  // namespace tally
