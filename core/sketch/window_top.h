// Which names weighed most in the last minutes: space-saving sketches of successive steps of time.
//
// A window is six steps, each a sixth of it, that begin at multiples of their length since 1970.
// What is shown at `now` is the step of `now` and the five before: between five sixths of the
// window and all of it, and never anything older than the window.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sketch/space_saving.h"

namespace tally {

// An item over all steps of a window. `count` is never below the true weight and at most `error`
// above it.
using TopItem = SpaceSaving::Item;

class WindowTop {
 public:
  static constexpr size_t kSteps = 6;

  // `window_ms` is a multiple of kSteps; `capacity` names are held in each step.
  WindowTop(int64_t window_ms, size_t capacity);

  // As SpaceSaving::Add, of what was all in the step of item.last_ms, in unix ms: of no effect if
  // the window of `now` is past that. A step whose time is over is forgotten when its place is
  // needed.
  void Add(const TopItem& item, int64_t now);
  // The step of `at_ms` has had names of which nobody knows; none of them weighs more than this.
  void AddMissed(uint64_t weight, int64_t at_ms, int64_t now);
  // Those that have any weight, by the weight that is certain (count - error), the heaviest first.
  // O(capacity log capacity).
  std::vector<TopItem> Top(int64_t now) const;
  // The most that a name which Top does not hold can weigh: at most what all steps weigh by their
  // capacity, and what was missed.
  uint64_t bound(int64_t now) const;
  int64_t window_ms() const { return step_ms_ * static_cast<int64_t>(kSteps); }
  void Clear();
  size_t MemoryBytes() const;

 private:
  struct Step {
    explicit Step(size_t capacity) : sketch(capacity) {}
    uint64_t bound() const { return sketch.bound() + missed; }

    int64_t number = -1;  // since 1970; -1 if there was none
    uint64_t missed = 0;
    SpaceSaving sketch;
  };

  // Null if the time is too long ago.
  Step* StepOf(int64_t at_ms, int64_t now);
  template <typename Visit>
  void ForEachStep(int64_t now, Visit&& visit) const;

  int64_t step_ms_;
  std::vector<Step> steps_;
};

}  // namespace tally
