// IntRing: pushes, a sliding window, and whether the middle is as near as the ends.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "core/list/int_ring.h"

namespace tally {
namespace {

constexpr int64_t kNow = 1'700'000'000;

// Gaps of 0 to 15 seconds from a cheap generator, so that the ring's cost is what shows.
class Clock {
 public:
  int64_t Tick() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return now_ += static_cast<int64_t>(state_ >> 60);
  }

 private:
  uint64_t state_ = 1;
  int64_t now_ = kNow;
};

IntRing Filled(int64_t entries) {
  IntRing ring;
  Clock clock;
  for (int64_t i = 0; i < entries; ++i) ring.PushBack(clock.Tick());
  return ring;
}

void PushBack(benchmark::State& state) {
  for (auto _ : state) {
    IntRing ring = Filled(state.range(0));
    benchmark::DoNotOptimize(ring.size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(PushBack)->Arg(10)->Arg(1000)->Arg(1'000'000);

void PushFront(benchmark::State& state) {
  for (auto _ : state) {
    IntRing ring;
    Clock clock;
    for (int64_t i = 0; i < state.range(0); ++i) ring.PushFront(clock.Tick());
    benchmark::DoNotOptimize(ring.size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(PushFront)->Arg(10)->Arg(1000)->Arg(1'000'000);

void SlideWindow(benchmark::State& state) {
  IntRing ring = Filled(state.range(0));
  Clock clock;
  for (auto _ : state) {
    ring.PushBack(clock.Tick());
    benchmark::DoNotOptimize(ring.PopFront());
  }
  state.counters["bytes/entry"] =
      static_cast<double>(ring.MemoryBytes()) / static_cast<double>(ring.size());
}
BENCHMARK(SlideWindow)->Arg(10)->Arg(1000)->Arg(1'000'000);

// The argument is the place asked for, in percent of a million entries.
void At(benchmark::State& state) {
  const IntRing ring = Filled(1'000'000);
  const size_t at = (ring.size() - 1) * static_cast<size_t>(state.range(0)) / 100;
  for (auto _ : state) benchmark::DoNotOptimize(ring.At(at));
}
BENCHMARK(At)->Arg(0)->Arg(50)->Arg(100);

void InsertLateEvent(benchmark::State& state) {
  IntRing ring = Filled(state.range(0));
  for (auto _ : state) {
    const int64_t late = ring.Back() - 300;
    const size_t at = ring.LowerBound(late);
    ring.Insert(at, late);
    ring.Erase(at);
  }
}
BENCHMARK(InsertLateEvent)->Arg(1000)->Arg(1'000'000);

void ForEach(benchmark::State& state) {
  const IntRing ring = Filled(100'000);
  for (auto _ : state) {
    int64_t sum = 0;
    ring.ForEach(0, ring.size(), [&](int64_t value) {
      sum ^= value;
      return true;
    });
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(ForEach);

}  // namespace
}  // namespace tally
