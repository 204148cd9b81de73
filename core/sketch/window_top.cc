#include "core/sketch/window_top.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

namespace tally {

WindowTop::WindowTop(int64_t window_ms, size_t capacity)
    : step_ms_(window_ms / static_cast<int64_t>(kSteps)), steps_(kSteps, Step(capacity)) {}

template <typename Visit>
void WindowTop::ForEachStep(int64_t now_ms, Visit&& visit) const {
  const int64_t last = now_ms / step_ms_;
  for (const Step& step : steps_) {
    if (step.number >= 0 && step.number <= last &&
        step.number > last - static_cast<int64_t>(kSteps)) {
      visit(step);
    }
  }
}

WindowTop::Step* WindowTop::StepOf(int64_t at_ms, int64_t now_ms) {
  const int64_t number = at_ms / step_ms_;
  if (number <= now_ms / step_ms_ - static_cast<int64_t>(kSteps)) return nullptr;
  Step& step = steps_[static_cast<size_t>(number) % kSteps];
  if (step.number != number) {
    step.sketch.Clear();
    step.missed = 0;
    step.number = number;
  }
  return &step;
}

void WindowTop::Add(const TopItem& item, int64_t now_ms) {
  if (Step* step = StepOf(item.last_ms, now_ms)) step->sketch.Add(item);
}

void WindowTop::AddMissed(uint64_t weight, int64_t at_ms, int64_t now_ms) {
  if (weight == 0) return;
  if (Step* step = StepOf(at_ms, now_ms)) step->missed += weight;
}

uint64_t WindowTop::bound(int64_t now_ms) const {
  uint64_t sum = 0;
  ForEachStep(now_ms, [&](const Step& step) { sum += step.bound(); });
  return sum;
}

// If a step does not hold a name, the name may weigh up to step.bound() in it. If a step holds the
// name, up to step.missed may be missing in its count.
std::vector<TopItem> WindowTop::Top(int64_t now_ms) const {
  struct Sum {
    TopItem item;
    uint64_t bounds = 0;  // sum of the bounds of the sketches that hold the name
  };
  absl::flat_hash_map<uint64_t, Sum> sums;
  ForEachStep(now_ms, [&](const Step& step) {
    const SpaceSaving& sketch = step.sketch;
    for (const TopItem& item : sketch.items()) {
      const auto [found, fresh] = sums.try_emplace(item.hash, Sum{item, sketch.bound()});
      if (fresh) continue;
      Sum& sum = found->second;
      sum.item.count += item.count;
      sum.item.error += item.error;
      sum.item.last_ms = std::max(sum.item.last_ms, item.last_ms);
      sum.bounds += sketch.bound();
    }
  });
  const uint64_t all = bound(now_ms);
  std::vector<TopItem> top;
  for (auto& [hash, sum] : sums) {
    if (sum.item.count == sum.item.error) continue;
    sum.item.count += all - sum.bounds;
    sum.item.error += all - sum.bounds;
    top.push_back(sum.item);
  }
  std::sort(top.begin(), top.end(), [](const TopItem& a, const TopItem& b) {
    const uint64_t sure_a = a.count - a.error;
    const uint64_t sure_b = b.count - b.error;
    return sure_a != sure_b         ? sure_a > sure_b
           : a.last_ms != b.last_ms ? a.last_ms > b.last_ms
                                    : a.hash < b.hash;
  });
  return top;
}

void WindowTop::Clear() {
  for (Step& step : steps_) {
    step.number = -1;
    step.missed = 0;
    step.sketch.Clear();
  }
}

size_t WindowTop::MemoryBytes() const {
  size_t bytes = 0;
  for (const Step& step : steps_) bytes += sizeof(Step) + step.sketch.MemoryBytes();
  return bytes;
}

}  // namespace tally
