// How long a test tagged [.long] goes on: `server_tests '[long]'` runs those.
#pragma once

#include <chrono>

#include "scale.h"

namespace tally::test {

class LongRun {
 public:
  // A minute, times SCALE.
  bool goes_on() const { return std::chrono::steady_clock::now() < end_; }

 private:
  std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(Scaled(60));
};

}  // namespace tally::test
