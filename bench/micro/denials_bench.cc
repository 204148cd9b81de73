// What a denied LIMIT decision of the engine costs, and the part of it that counts the denial for
// DENIALS: CountDenial less ReadName of the same number of keys.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/engine/denials.h"
#include "core/engine/engine.h"
#include "core/engine/limits.h"

namespace tally {
namespace {

constexpr int64_t kNow = 1'795'230'400'000;
constexpr uint64_t kSeed = 42;

// Names, and the order in which they come: few names make most of the stream, as Zipf says.
struct Stream {
  explicit Stream(size_t count) {
    std::mt19937_64 random(kSeed);
    for (size_t i = 0; i < count; ++i) names.push_back("user:" + std::to_string(i));
    std::uniform_real_distribution<double> even(0, 1);
    for (uint32_t& next : order) {
      next = static_cast<uint32_t>(std::pow(static_cast<double>(count), even(random))) - 1;
    }
  }
  const std::string& Next() { return names[order[at++ % order.size()]]; }

  std::vector<std::string> names;
  std::vector<uint32_t> order = std::vector<uint32_t>(1 << 20);
  size_t at = 0;
};

void DeniedTake(benchmark::State& state) {
  Stream stream(static_cast<size_t>(state.range(0)));
  UtcOnly zones;
  Engine engine(1, kSeed, zones);
  Limits limits({engine, 0, kNow});
  const LimitRule rules[] = {LimitRule::Fixed(1, 3'600'000)};
  const auto take = [&](const std::string& name) {
    const KeyRules keys[] = {{name, rules}};
    return limits.Take({keys, 1, EventInstants::Now(kNow)}).decision.allowed;
  };
  for (const std::string& name : stream.names) take(name);
  for (auto _ : state) benchmark::DoNotOptimize(take(stream.Next()));
}
BENCHMARK(DeniedTake)->Arg(10)->Arg(1'000)->Arg(1'000'000);

// What it takes to read a name that is not in the cache. A server has just read it from the
// request.
void ReadName(benchmark::State& state) {
  Stream stream(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(std::hash<std::string>()(stream.Next()));
}
BENCHMARK(ReadName)->Arg(10)->Arg(1'000)->Arg(1'000'000);

void CountDenial(benchmark::State& state) {
  Stream stream(static_cast<size_t>(state.range(0)));
  Denials denials(kSeed);
  const auto label = [] { return std::string("FIXED 1 1h"); };
  const Denials::Cause cause{Denials::kRule, 7, label};
  for (auto _ : state) denials.Add({stream.Next(), 0}, cause, kNow);
}
BENCHMARK(CountDenial)->Arg(10)->Arg(1'000)->Arg(1'000'000);

}  // namespace
}  // namespace tally
