// Goes over a stream (XADD), which has no type here. Nothing in it says how long it is, so all of
// its parts are read, some in each step.
#pragma once

#include <cstdint>
#include <vector>

#include "server/rdb/rdb_input.h"

namespace tally::rdb {

class StreamSkipper {
 public:
  explicit StreamSkipper(RdbInput& input) : input_(input) {}

  // `code` is one of the codes of streams.
  void Begin(uint8_t code);
  // Returns false when all of it is read, or after an error of the input.
  bool Next();

 private:
  enum class Part : uint8_t {
    kNodes,  // of entries
    kGroups,
    kPending,  // entries that a group has given out
    kConsumers,
    kConsumerIds,
    kRejectedIds,
    kProducers,
    kProducerIds
  };
  // Parts of one kind that are still to be read.
  struct Level {
    Part part;
    uint64_t left;
  };

  // The next parts of the kind, as many as the next length says.
  void Push(Part part) { levels_.push_back({part, input_.Length()}); }
  void SkipLengths(int count);
  void SkipOne(Part part);
  // What follows the last part of the kind.
  void SkipAfter(Part part);

  RdbInput& input_;
  uint8_t code_ = 0;
  std::vector<Level> levels_;
};

}  // namespace tally::rdb
