#include "core/bytes/common_subsequence.h"

#include <algorithm>
#include <cstdint>

namespace tally {
namespace {

// For each pair of prefixes whose last bytes differ: whether the longer common subsequence is that
// without the last byte of `a`. If both are as long, it is that without the last byte of `b`.
class Directions {
 public:
  Directions(std::string_view a, std::string_view b)
      : width_(b.size()), drop_a_(a.size() * width_) {
    // lengths[j]: of the prefix of `a` so far and the first j bytes of `b`.
    std::vector<uint32_t> lengths(b.size() + 1, 0);
    for (size_t i = 0; i < a.size(); ++i) {
      uint32_t diagonal = 0;
      for (size_t j = 0; j < width_; ++j) {
        const uint32_t above = lengths[j + 1];
        if (a[i] == b[j]) {
          lengths[j + 1] = diagonal + 1;
        } else if (above > lengths[j]) {
          drop_a_[i * width_ + j] = true;
        } else {
          lengths[j + 1] = lengths[j];
        }
        diagonal = above;
      }
    }
  }

  bool DropsA(size_t i, size_t j) const { return drop_a_[i * width_ + j]; }

 private:
  const size_t width_;
  std::vector<bool> drop_a_;
};

}  // namespace

std::vector<CommonRun> CommonSubsequence(std::string_view a, std::string_view b) {
  const Directions directions(a, b);
  std::vector<CommonRun> runs;
  bool in_run = false;
  size_t i = a.size();
  size_t j = b.size();
  while (i > 0 && j > 0) {
    if (a[i - 1] == b[j - 1]) {
      --i;
      --j;
      if (!in_run) runs.push_back({i, j, 0});
      runs.back() = {i, j, runs.back().size + 1};
      in_run = true;
    } else {
      directions.DropsA(i - 1, j - 1) ? --i : --j;
      in_run = false;
    }
  }
  return runs;
}

}  // namespace tally
