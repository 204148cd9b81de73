// Finds the names with the highest weight in the last minutes, with a space-saving sketch for each
// step of time.
//
// A window consists of six steps of equal length, which begin at multiples of this length since
// 1970. An answer at `now_ms` covers the step of `now_ms` and the five steps before it: between
// five sixths of the window and all of it, and never anything older than the window.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sketch/space_saving.h"

namespace tally {

// An item over all steps of a window. `count` is never below the true weight, and at most `error`
// above it.
using TopItem = SpaceSaving::Counter;

class WindowTop {
 public:
  static constexpr size_t kSteps = 6;

  // `window_ms` must be a multiple of kSteps; each step holds up to `capacity` names.
  WindowTop(int64_t window_ms, size_t capacity);

  // Adds an item as SpaceSaving::Add. All of its count must belong to the step of item.last_ms
  // (unix ms). Has no effect if this step is older than the window at `now_ms`. A step that has
  // become too old is cleared when its place is needed.
  void Add(const TopItem& item, int64_t now_ms);
  // Notes that the step of `at_ms` had names that were not added, and that none of them weighs more
  // than `weight`. The weights of several calls for one step are added up.
  void AddMissed(uint64_t weight, int64_t at_ms, int64_t now_ms);
  // Returns the names whose certain weight (count - error) is above 0, the highest first.
  // O(capacity log capacity).
  std::vector<TopItem> Top(int64_t now_ms) const;
  // The highest weight that a name which Top() does not return can have. It is at most the weight
  // of all steps divided by their capacity, plus what AddMissed() noted.
  uint64_t bound(int64_t now_ms) const;
  int64_t window_ms() const { return step_ms_ * static_cast<int64_t>(kSteps); }
  void Clear();
  size_t MemoryBytes() const;

 private:
  struct Step {
    explicit Step(size_t capacity) : sketch(capacity) {}
    uint64_t bound() const { return sketch.bound() + missed; }

    int64_t number = -1;  // number of the step since 1970; -1 if nothing was added yet
    uint64_t missed = 0;
    SpaceSaving sketch;
  };

  // Returns null if the step of `at_ms` is older than the window at `now_ms`.
  Step* StepOf(int64_t at_ms, int64_t now_ms);
  template <typename Visit>
  void ForEachStep(int64_t now_ms, Visit&& visit) const;

  int64_t step_ms_;
  std::vector<Step> steps_;
};

}  // namespace tally
