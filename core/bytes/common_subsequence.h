// The longest common subsequence of two texts: what is left of each when as few bytes as possible
// are taken out to make them equal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tally {

// The same bytes at a[a_begin, a_begin + size) and b[b_begin, b_begin + size).
struct CommonRun {
  size_t a_begin;
  size_t b_begin;
  size_t size;

  bool operator==(const CommonRun&) const = default;
};

// The work grows with the product of the lengths, each increased by one. Callers bound it.
constexpr size_t CommonSubsequenceWork(size_t a_size, size_t b_size) {
  return (a_size + 1) * (b_size + 1);
}

// The runs of one longest common subsequence, last first. Of several subsequences it is the one
// that Redis's LCS shows. O(work) time, a bit of memory for each unit of work.
std::vector<CommonRun> CommonSubsequence(std::string_view a, std::string_view b);

}  // namespace tally
