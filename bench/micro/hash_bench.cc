// Hashes and sets: time an operation at the small and the large size, and bytes an element.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/hash/hash.h"
#include "core/set/set.h"

namespace tally {
namespace {

constexpr size_t kMany = 1000000;
constexpr uint64_t kSeed = 42;
const HashLimits kHashLimits;
const SetLimits kSetLimits;

std::vector<std::string> HexIds(size_t count) {
  static const char kDigits[] = "0123456789abcdef";
  std::mt19937_64 random(kSeed);
  std::vector<std::string> ids(count, std::string(32, '0'));
  for (std::string& id : ids) {
    for (char& digit : id) digit = kDigits[random() % 16];
  }
  return ids;
}

std::vector<std::string> Numbered(const std::string& prefix, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(prefix + std::to_string(i));
  return names;
}

Hash IdMap(const std::vector<std::string>& ids) {
  Hash hash(kSeed);
  for (size_t i = 0; i < ids.size(); ++i) hash.Set(ids[i], std::to_string(i), kHashLimits);
  return hash;
}

// Hexadecimal ids to small integers.
void FillIdMap(benchmark::State& state) {
  const std::vector<std::string> ids = HexIds(kMany);
  for (auto _ : state) {
    const Hash hash = IdMap(ids);
    state.counters["bytes_a_field"] =
        static_cast<double>(hash.MemoryBytes()) / static_cast<double>(kMany);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kMany));
}
BENCHMARK(FillIdMap)->Unit(benchmark::kMillisecond);

// A user's purchases: product numbers to binary records.
void FillPurchases(benchmark::State& state) {
  const std::vector<std::string> products = Numbered("", 9);
  const std::string record("\x91\x84\xa6", 3);
  size_t bytes = 0;
  for (auto _ : state) {
    Hash hash(kSeed);
    for (const std::string& product : products) {
      hash.Set("1000" + product, record + std::string(53, '\x81'), kHashLimits);
    }
    bytes = hash.MemoryBytes();
  }
  state.counters["bytes_a_field"] =
      static_cast<double>(bytes) / static_cast<double>(products.size());
}
BENCHMARK(FillPurchases);

// The argument is the number of fields.
template <class Operate>
void OnHash(benchmark::State& state, Operate operate) {
  const std::vector<std::string> fields = Numbered("field:", static_cast<size_t>(state.range(0)));
  Hash hash = IdMap(fields);
  std::mt19937_64 random(kSeed);
  for (auto _ : state) operate(hash, fields[random() % fields.size()]);
}

void HashFind(benchmark::State& state) {
  OnHash(state, [](const Hash& hash, const std::string& field) {
    benchmark::DoNotOptimize(hash.Find(field)->integer());
  });
}
BENCHMARK(HashFind)->Arg(10)->Arg(100)->Arg(512)->Arg(kMany);

void HashSet(benchmark::State& state) {
  OnHash(state, [](Hash& hash, const std::string& field) {
    hash.Set(field, "a value of the same size", kHashLimits);
  });
}
BENCHMARK(HashSet)->Arg(10)->Arg(512)->Arg(kMany);

void HashIncrement(benchmark::State& state) {
  OnHash(state, [](Hash& hash, const std::string& field) {
    benchmark::DoNotOptimize(hash.Increment(field, 1, kHashLimits));
  });
}
BENCHMARK(HashIncrement)->Arg(10)->Arg(kMany);

void HashForEach(benchmark::State& state) {
  OnHash(state, [](const Hash& hash, const std::string&) {
    hash.ForEach([](std::string_view field, std::string_view value) {
      benchmark::DoNotOptimize(field.data());
      benchmark::DoNotOptimize(value.data());
    });
  });
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(HashForEach)->Arg(10)->Arg(100000);

void HashScanTen(benchmark::State& state) {
  uint64_t cursor = 0;
  OnHash(state, [&cursor](const Hash& hash, const std::string&) {
    cursor = hash.Scan(cursor, 10, [](std::string_view field, std::string_view) {
      benchmark::DoNotOptimize(field.data());
    });
  });
}
BENCHMARK(HashScanTen)->Arg(kMany);

// One slice of a lazy deletion.
void HashFreeThousand(benchmark::State& state) {
  const std::vector<std::string> ids = HexIds(kMany);
  Hash hash = IdMap(ids);
  for (auto _ : state) {
    if (!hash.FreeSome(1000)) continue;
    state.PauseTiming();
    hash = IdMap(ids);
    state.ResumeTiming();
  }
}
BENCHMARK(HashFreeThousand)->Iterations(1000);

void SetContains(benchmark::State& state, const char* prefix) {
  const std::vector<std::string> members = Numbered(prefix, static_cast<size_t>(state.range(0)));
  Set set(kSeed);
  for (const std::string& member : members) set.Insert(member, kSetLimits);
  std::mt19937_64 random(kSeed);
  for (auto _ : state) {
    benchmark::DoNotOptimize(set.Contains(members[random() % members.size()]));
  }
  state.counters["bytes_a_member"] =
      static_cast<double>(set.MemoryBytes()) / static_cast<double>(members.size());
}
BENCHMARK_CAPTURE(SetContains, integers, "")->Arg(10)->Arg(512)->Arg(kMany);
BENCHMARK_CAPTURE(SetContains, names, "member:")->Arg(10)->Arg(64)->Arg(kMany);

void SetSample(benchmark::State& state) {
  const std::vector<std::string> members = Numbered("member:", kMany);
  Set set(kSeed);
  for (const std::string& member : members) set.Insert(member, kSetLimits);
  std::mt19937_64 random(kSeed);
  for (auto _ : state) {
    set.Sample(random(), [](std::string_view member) { benchmark::DoNotOptimize(member.data()); });
  }
}
BENCHMARK(SetSample);

}  // namespace
}  // namespace tally
