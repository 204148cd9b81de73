// Clients that only hear: keyspace events, channels, and changes of keys that others track.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/differential/client.h"
#include "tests/differential/random.h"

namespace tally::differential {

class Audience {
 public:
  // Turns the events on.
  explicit Audience(Ports ports);

  // One of them subscribes to something or leaves. False, and a report, when the replies differ.
  bool Act(Random& random, std::string& report);

  // Whether both servers have told the same since the call before, otherwise `report` shows where
  // they part. Call when nothing runs. For `as_sets` see SameMessages.
  bool Agree(bool as_sets, std::string& report);

  // What was heard of keyspace events, and of all else.
  uint64_t events() const { return pairs_[0]->ours.heard(); }
  uint64_t messages() const { return pairs_[1]->ours.heard() + pairs_[2]->ours.heard(); }

  // Those to whom CLIENT TRACKING may redirect.
  std::vector<std::string> ids() const;

 private:
  std::vector<std::unique_ptr<Pair>> pairs_;
};

}  // namespace tally::differential
