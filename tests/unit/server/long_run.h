// How long a test tagged [.long] goes on: `server_tests '[long]'` runs those.
#pragma once

#include <chrono>
#include <cstdlib>

namespace tally::test {

class LongRun {
 public:
  // TALLY_LONG_SECONDS, or a minute.
  bool goes_on() const { return std::chrono::steady_clock::now() < end_; }

 private:
  static std::chrono::seconds Length() {
    const char* seconds = std::getenv("TALLY_LONG_SECONDS");
    return std::chrono::seconds(seconds != nullptr ? std::atoll(seconds) : 60);
  }

  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + Length();
};

}  // namespace tally::test
