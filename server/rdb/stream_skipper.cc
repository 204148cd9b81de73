#include "server/rdb/stream_skipper.h"

#include "server/rdb/rdb_codes.h"

namespace tally::rdb {
namespace {

constexpr uint64_t kIdBytes = 16;
constexpr uint64_t kTimeBytes = 8;
constexpr int kStep = 256;

}  // namespace

void StreamSkipper::Begin(uint8_t code) {
  code_ = code;
  levels_.clear();
  Push(Part::kNodes);
}

bool StreamSkipper::Next() {
  for (int i = 0; i < kStep && !levels_.empty() && input_.ok(); ++i) {
    Level& level = levels_.back();
    const Part part = level.part;
    if (level.left == 0) {
      levels_.pop_back();
      SkipAfter(part);
    } else {
      --level.left;
      SkipOne(part);
    }
  }
  return !levels_.empty() && input_.ok();
}

void StreamSkipper::SkipLengths(int count) {
  for (; count > 0; --count) input_.Length();
}

void StreamSkipper::SkipOne(Part part) {
  switch (part) {
    case Part::kNodes:
      input_.SkipString();
      return input_.SkipString();
    case Part::kGroups:
      input_.SkipString();
      // The last id, and how many entries were read.
      SkipLengths(code_ >= kStream2 ? 3 : 2);
      return Push(Part::kPending);
    case Part::kPending:
      input_.Skip(kIdBytes + kTimeBytes);
      return SkipLengths(1);
    case Part::kConsumers:
      input_.SkipString();
      input_.Skip(code_ >= kStream3 ? 2 * kTimeBytes : kTimeBytes);
      return Push(Part::kConsumerIds);
    case Part::kConsumerIds:
    case Part::kRejectedIds:
      return input_.Skip(kIdBytes);
    case Part::kProducers:
      input_.SkipString();
      return Push(Part::kProducerIds);
    case Part::kProducerIds:
      input_.SkipString();
      return SkipLengths(2);
  }
}

void StreamSkipper::SkipAfter(Part part) {
  switch (part) {
    case Part::kNodes:
      // The number of entries and the last id; from the second version on also the first id, the
      // largest deleted one, and how many entries were added.
      SkipLengths(code_ >= kStream2 ? 8 : 3);
      return Push(Part::kGroups);
    case Part::kPending:
      return Push(Part::kConsumers);
    case Part::kConsumers:
      if (code_ >= kStream5) Push(Part::kRejectedIds);
      return;
    case Part::kGroups:
      if (code_ < kStream4) return;
      SkipLengths(2);
      return Push(Part::kProducers);
    case Part::kProducers:
      return SkipLengths(2);
    case Part::kConsumerIds:
    case Part::kRejectedIds:
    case Part::kProducerIds:
      return;
  }
}

}  // namespace tally::rdb
