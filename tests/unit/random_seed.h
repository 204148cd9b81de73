// A seeded generator for model tests: prints its seed, so that a failure can be run again.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace tally::test {

// The seed is TALLY_SEED where it is set, otherwise fresh. Declare `SeededRandom random;` in a
// test: Catch prints the seed when the test fails.
class SeededRandom {
 public:
  SeededRandom() : SeededRandom(ChooseSeed()) {}
  explicit SeededRandom(uint64_t seed) : seed_(seed), engine_(seed_) {}

  uint64_t seed() const { return seed_; }
  uint64_t Next() { return engine_(); }
  // Uniform in [0, bound); bound > 0.
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Below(static_cast<uint64_t>(high - low) + 1));
  }
  bool OneIn(uint64_t n) { return Below(n) == 0; }

 private:
  static uint64_t ChooseSeed() {
    if (const char* fixed = std::getenv("TALLY_SEED")) return std::strtoull(fixed, nullptr, 10);
    return std::random_device{}();
  }

  uint64_t seed_;
  std::mt19937_64 engine_;
};

}  // namespace tally::test
