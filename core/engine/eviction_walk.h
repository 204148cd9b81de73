// Which keys go first when memory is short.
//
// The walk goes round the segments of all databases, and of each it takes the sixteenth that should
// go first by the rule. A segment's keys, up to 896, are chosen by their hashes, so that the first
// of them are close to the first of all: when half of 100,000 keys are evicted, over 97% of them
// are of the older half, and none of the youngest tenth (tests/unit/core/eviction_walk_test.cc).
// That a segment loses many keys at a time also is what gives memory back: its buffer is packed
// anew once for all of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/engine/engine.h"

namespace tally {

struct EvictionRule {
  enum class First : uint8_t {
    kLeastRecent,    // the longest unused (LRU)
    kLeastFrequent,  // the least used (LFU): marks have to be kept by frequency
    kSoonestDue,     // with the nearest deadline
    kAny,
  };
  First first = First::kAny;
  bool only_with_deadline = false;
};

class EvictionWalk {
 public:
  struct Batch {
    size_t database = 0;
    Keyspace::Segment* segment = nullptr;
    // The keys that should go, in that order; never none.
    std::vector<std::string> keys;
  };

  // Sets `batch` to what should go in the next segment; false if no key may go. O(keys of the
  // segment) but for empty segments on the way. When keys have been erased, Keyspace::Pack has to
  // be called for the segment.
  bool Next(Engine& engine, const EvictionRule& rule, int64_t now, Batch& batch);

 private:
  Keyspace::Segment* NextSegment(Keyspace& keyspace, const EvictionRule& rule);
  void Choose(const Keyspace& keyspace, const EvictionRule& rule, int64_t now, Batch& batch);

  size_t database_ = 0;
  uint64_t position_ = 0;
  Keyspace::DuePlace due_place_;
  // How much a key should go, and its name: of the segment that is looked at.
  std::vector<std::pair<int64_t, std::string_view>> candidates_;
};

}  // namespace tally
