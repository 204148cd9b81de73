// How many ids were last seen after the moving start of a window, exact to the millisecond without
// visiting ids: a histogram of last-seen instants, by second and then by millisecond, of those
// after the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/btree_map.h"

namespace tally {

class OnlineWindow {
 public:
  // Ids last seen after the start.
  uint32_t count() const { return count_; }
  int64_t start() const { return start_; }

  // An id is last seen at `at`; at or before the start it is not counted. O(log seconds).
  void Add(int64_t at);
  // The same id is no longer last seen at `at`.
  void Remove(int64_t at);
  // Moves the start forward. Amortised O(1) for each instant that is left behind.
  void Advance(int64_t start);
  // Ids last seen after `after`, which is not before the start. O(seconds between).
  uint32_t CountAfter(int64_t after) const;

  size_t MemoryBytes() const;

 private:
  struct Cell {
    uint16_t ms;
    uint16_t count;
  };
  // Cells in order while they are few; from then on, a counter for each millisecond.
  struct Second {
    uint32_t total = 0;
    std::vector<Cell> cells;
    std::unique_ptr<uint32_t[]> counters;

    Second() = default;
    Second(const Second& other);
    Second(Second&&) noexcept = default;
    Second& operator=(Second&&) noexcept = default;

    void Add(uint32_t ms);
    void Remove(uint32_t ms);
    uint32_t CountThrough(uint32_t ms) const;
    // Forgets what is at or before `ms`; returns how many there were.
    uint32_t DropThrough(uint32_t ms);
    void MakeDense();
  };

  absl::btree_map<int64_t, Second> seconds_;
  int64_t start_ = INT64_MIN;
  uint32_t count_ = 0;
};

}  // namespace tally
