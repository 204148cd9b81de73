// Names as they come in life: some very often, most hardly ever.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "random_seed.h"

namespace tally::test {

// Ranks from 0 on, the i-th with a chance in proportion to 1 / (i + 1)^exponent.
class Zipf {
 public:
  Zipf(size_t names, double exponent) {
    double sum = 0;
    for (size_t i = 0; i < names; ++i) {
      sum += std::pow(static_cast<double>(i + 1), -exponent);
      sums_.push_back(sum);
    }
  }
  size_t Next(SeededRandom& random) const {
    const double at = static_cast<double>(random.Next() >> 11) * 0x1p-53 * sums_.back();
    const auto found = std::upper_bound(sums_.begin(), sums_.end(), at);
    return std::min(static_cast<size_t>(found - sums_.begin()), sums_.size() - 1);
  }

 private:
  std::vector<double> sums_;
};

}  // namespace tally::test
