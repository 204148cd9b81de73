// How much a random test does: SCALE (1) times as much as usual, for all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace tally::test {

inline uint64_t Scaled(uint64_t usual) {
  const char* scale = std::getenv("SCALE");
  if (scale == nullptr) return usual;
  return std::max<uint64_t>(1,
                            static_cast<uint64_t>(std::atof(scale) * static_cast<double>(usual)));
}

}  // namespace tally::test
