// The sorted set at its large size: time an operation and bytes a member.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/zset/zset.h"

namespace tally {
namespace {

constexpr size_t kMembers = 1000000;
constexpr uint64_t kSeed = 42;
const ZSetLimits kLimits;

enum class Names { kHex, kIntegers };

std::vector<std::string> MakeNames(Names kind, size_t count) {
  std::mt19937_64 random(kSeed);
  std::vector<std::string> names;
  names.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    if (kind == Names::kIntegers) {
      names.push_back(std::to_string(i));
      continue;
    }
    static const char kDigits[] = "0123456789abcdef";
    std::string name(32, '0');
    for (char& digit : name) digit = kDigits[random() % 16];
    names.push_back(std::move(name));
  }
  return names;
}

double RandomScore(std::mt19937_64& random) { return static_cast<double>(random() % (1u << 30)); }

ZSet Filled(const std::vector<std::string>& names, bool rising) {
  std::mt19937_64 random(kSeed);
  ZSet zset(kSeed);
  for (size_t i = 0; i < names.size(); ++i) {
    zset.Set(names[i], rising ? static_cast<double>(i / 10) : RandomScore(random), kLimits);
  }
  return zset;
}

void Insert(benchmark::State& state, Names kind, bool rising) {
  const std::vector<std::string> names = MakeNames(kind, kMembers);
  for (auto _ : state) {
    const ZSet zset = Filled(names, rising);
    state.PauseTiming();
    state.counters["bytes_a_member"] =
        static_cast<double>(zset.MemoryBytes()) / static_cast<double>(kMembers);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kMembers));
}
BENCHMARK_CAPTURE(Insert, hex_rising, Names::kHex, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Insert, hex_random, Names::kHex, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Insert, integers_rising, Names::kIntegers, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Insert, integers_random, Names::kIntegers, false)->Unit(benchmark::kMillisecond);

// Runs `operate(zset, name, random)` on a set of random scores.
template <class Operate>
void OnRandom(benchmark::State& state, Operate operate) {
  const std::vector<std::string> names = MakeNames(Names::kHex, kMembers);
  ZSet zset = Filled(names, false);
  std::mt19937_64 random(kSeed + 1);
  for (auto _ : state) operate(zset, names[random() % kMembers], random);
}

void Score(benchmark::State& state) {
  OnRandom(state, [](const ZSet& zset, const std::string& name, std::mt19937_64&) {
    benchmark::DoNotOptimize(zset.Score(name));
  });
}
BENCHMARK(Score);

void Rank(benchmark::State& state) {
  OnRandom(state, [](const ZSet& zset, const std::string& name, std::mt19937_64&) {
    benchmark::DoNotOptimize(zset.Rank(name));
  });
}
BENCHMARK(Rank);

void Count(benchmark::State& state) {
  OnRandom(state, [](const ZSet& zset, const std::string&, std::mt19937_64& random) {
    const double min = RandomScore(random);
    benchmark::DoNotOptimize(zset.ScoreRange({min}, {min + 1e6}));
  });
}
BENCHMARK(Count);

void RangeOfTen(benchmark::State& state) {
  OnRandom(state, [](const ZSet& zset, const std::string&, std::mt19937_64& random) {
    const size_t rank = random() % (kMembers - 10);
    zset.ForEach({rank, rank + 10}, false, [](std::string_view member, double) {
      benchmark::DoNotOptimize(member.data());
      return true;
    });
  });
}
BENCHMARK(RangeOfTen);

void Update(benchmark::State& state) {
  OnRandom(state, [](ZSet& zset, const std::string& name, std::mt19937_64& random) {
    zset.Set(name, RandomScore(random), kLimits);
  });
}
BENCHMARK(Update);

void EraseAndInsert(benchmark::State& state) {
  OnRandom(state, [](ZSet& zset, const std::string& name, std::mt19937_64& random) {
    zset.Erase(name);
    zset.Set(name, RandomScore(random), kLimits);
  });
}
BENCHMARK(EraseAndInsert);

void EraseLowestThousand(benchmark::State& state) {
  const std::vector<std::string> names = MakeNames(Names::kHex, kMembers);
  ZSet zset = Filled(names, false);
  for (auto _ : state) {
    zset.EraseRange({0, 1000});
    if (zset.size() > kMembers / 2) continue;
    state.PauseTiming();
    zset = Filled(names, false);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(EraseLowestThousand)->Iterations(400);

void ScanTen(benchmark::State& state) {
  uint64_t cursor = 0;
  OnRandom(state, [&cursor](const ZSet& zset, const std::string&, std::mt19937_64&) {
    cursor = zset.Scan(cursor, 10, [](std::string_view member, double) {
      benchmark::DoNotOptimize(member.data());
    });
  });
}
BENCHMARK(ScanTen);

// One slice of a lazy deletion.
void FreeThousand(benchmark::State& state) {
  const std::vector<std::string> names = MakeNames(Names::kHex, kMembers);
  ZSet zset = Filled(names, false);
  for (auto _ : state) {
    if (!zset.FreeSome(1000)) continue;
    state.PauseTiming();
    zset = Filled(names, false);
    state.ResumeTiming();
  }
}
BENCHMARK(FreeThousand)->Iterations(1500);

}  // namespace
}  // namespace tally
