// Counts the ids that were last seen after the moving start of a window, exact to the millisecond,
// without visiting ids. It keeps a histogram of the last-seen instants after the start, by second
// and within a second by millisecond.
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
  int64_t start_ms() const { return start_ms_; }

  // Counts an id that was last seen at `at_ms`, if that is after the start. O(log seconds).
  void Add(int64_t at_ms);
  // Undoes an Add(at_ms): that id is no longer last seen at `at_ms`.
  void Remove(int64_t at_ms);
  // Moves the start forward, never back. Amortised O(1) for each instant that leaves the window.
  void Advance(int64_t start_ms);
  // Ids last seen after `after_ms`, which must not be before the start. O(seconds between the two).
  uint32_t CountAfter(int64_t after_ms) const;

  size_t MemoryBytes() const;

  class Falling;

 private:
  struct Cell {
    uint16_t ms;
    uint16_t count;
  };
  // Sorted cells while there are few; after that, a counter for each millisecond.
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
    // Drops the ids last seen at or before `ms`; returns how many there were.
    uint32_t DropThrough(uint32_t ms);
    void MakeDense();
  };

  using Seconds = absl::btree_map<int64_t, Second>;

  Seconds seconds_;
  int64_t start_ms_ = INT64_MIN;
  uint32_t count_ = 0;
};

// Counts as CountAfter for instants that only rise, in one walk over the seconds for all of them.
// The window must not change meanwhile.
class OnlineWindow::Falling {
 public:
  explicit Falling(const OnlineWindow& window) : window_(window), next_(window.seconds_.begin()) {}

  // `after_ms` must not be before that of the last call. O(seconds between the two).
  uint32_t CountAfter(int64_t after_ms);

 private:
  const OnlineWindow& window_;
  // The first second that does not end at or before `after_ms`, and the ids of those before it.
  Seconds::const_iterator next_;
  uint32_t gone_ = 0;
};

}  // namespace tally
