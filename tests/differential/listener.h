// Hears the keyspace notifications of both servers and compares them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/differential/wire.h"

namespace tally::differential {

class Listener {
 public:
  // Turns the events on.
  Listener(uint16_t tallyd_port, uint16_t redis_port);

  // Whether both told of the same events, in the same order, since the call before; otherwise
  // `report` shows where they part. Call when nothing runs.
  bool Agree(std::string& report);

  uint64_t heard() const { return heard_; }

 private:
  // "event@database key" each.
  static std::vector<std::string> Hear(Wire& wire);

  Wire ours_;
  Wire theirs_;
  uint64_t heard_ = 0;  // events of ours
};

}  // namespace tally::differential
