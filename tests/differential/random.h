// The stream's only source of chance: the same seed gives the same stream on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

namespace tally::differential {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // Uniform in [0, bound); bound > 0.
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
  }
  bool Percent(uint64_t chance) { return Below(100) < chance; }

  template <typename Range>
  const auto& OneOf(const Range& range) {
    return range[Below(std::size(range))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tally::differential
