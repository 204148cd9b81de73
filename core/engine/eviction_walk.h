// Chooses the keys that are evicted first when memory is short.
//
// The walk goes round the segments of all databases. From each segment it takes one sixteenth of
// the keys: those that should go first by the rule. A segment holds up to 896 keys. Their hashes
// put them there, so they are a random sample, and its first keys are close to the first of all
// keys. When half of 100,000 keys are evicted, over 97% of them are of the older half, and none is
// of the youngest tenth (tests/unit/core/eviction_walk_test.cc). A segment loses many keys at a
// time because only packing its buffer frees memory: it is packed once for all of them.
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
    kLeastFrequent,  // the least used (LFU); needs AccessTracking::by_frequency
    kSoonestDue,     // the nearest deadline
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
    // The keys that should go, the first one first. Not empty when Next() has returned true.
    std::vector<std::string> keys;
  };

  // Sets `batch` to the keys that should go in the next segment; returns false if no key may go.
  // O(keys of the segment), and more for segments on the way in which no key may go. After erasing
  // keys the caller must call Keyspace::Pack for the segment.
  bool Next(Engine& engine, const EvictionRule& rule, int64_t now_ms, Batch& batch);

 private:
  Keyspace::Segment* NextSegment(Keyspace& keyspace, const EvictionRule& rule);
  void Choose(const Keyspace& keyspace, const EvictionRule& rule, int64_t now_ms, Batch& batch);

  size_t database_ = 0;
  uint64_t position_ = 0;
  Keyspace::DuePosition due_position_;
  // The keys of the current segment that may go: urgency (the highest goes first) and name.
  std::vector<std::pair<int64_t, std::string_view>> candidates_;
};

}  // namespace tally
