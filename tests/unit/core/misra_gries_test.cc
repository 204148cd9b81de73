// Misra and Gries in small sets, against exact counts.
#include "core/sketch/misra_gries.h"

#include <xxhash.h>

#include <catch2/catch.hpp>
#include <string>
#include <unordered_map>

#include "random_seed.h"
#include "scale.h"
#include "zipf.h"

namespace tally::misra_gries_test {
namespace {

using test::SeededRandom;
using Exact = std::unordered_map<std::string, uint64_t>;

struct Counted {
  explicit Counted(size_t sets) : sketch(sets), places(sets * MisraGries::kWays) {}

  void Add(const std::string& name, int64_t at_ms = 0) {
    ++exact[name];
    ++total;
    sketch.Add(XXH3_64bits(name.data(), name.size()), at_ms, [&](MisraGries::Counter& item) {
      item.key.Set(name);
      ++written;
    });
  }
  void Clear() {
    sketch.Clear();
    exact.clear();
    total = 0;
  }
  void RequirePromises() const {
    Exact held;
    sketch.ForEach([&](const MisraGries::Counter& item) {
      REQUIRE(item.count > 0);
      REQUIRE(held.emplace(item.key.view(), item.count).second);
    });
    REQUIRE(sketch.bound() <= 2 * total / (MisraGries::kWays + 1));
    for (const auto& [name, times] : exact) {
      const auto found = held.find(name);
      const uint64_t count = found == held.end() ? 0 : found->second;
      REQUIRE(count <= times);
      REQUIRE(times <= count + sketch.bound());
    }
    for (const auto& [name, count] : held) REQUIRE(exact.contains(name));
  }

  MisraGries sketch;
  size_t places;
  Exact exact;
  uint64_t total = 0;
  uint64_t written = 0;
};

TEST_CASE("names of which there are fewer than places are counted exactly") {
  Counted counted(128);
  CHECK(counted.sketch.MemoryBytes() == 0);
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 800; ++i) counted.Add("user:" + std::to_string(i), round);
  }
  CHECK(counted.sketch.bound() == 0);
  CHECK(counted.written == 800);
  size_t held = 0;
  counted.sketch.ForEach([&](const MisraGries::Counter& item) {
    ++held;
    REQUIRE(item.count == 3);
    REQUIRE(item.last_ms == 3);
  });
  CHECK(held == 800);
}

TEST_CASE("a name that comes again after Clear is not written again, and counts from nothing") {
  Counted counted(1);
  for (int i = 0; i < 5; ++i) counted.Add("ann");
  counted.Clear();
  counted.sketch.ForEach([](const MisraGries::Counter&) { FAIL("something is held"); });
  counted.Add("ann");
  CHECK(counted.written == 1);
  counted.RequirePromises();
}

TEST_CASE("streams of all kinds keep the promises") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  for (int round = 0; round < 60; ++round) {
    Counted counted(size_t{1} << random.Below(5));
    const size_t names = 1 + random.Below(2 * counted.places);
    for (uint64_t i = 0; i < 3000; ++i) {
      // Each name once after the other is what hurts a sketch most.
      const size_t rank = round % 3 == 0 ? i % names : random.Below(1 + random.Below(names));
      counted.Add(std::to_string(rank));
      if (i % 500 == 499) counted.RequirePromises();
      if (random.OneIn(2000)) counted.Clear();
    }
  }
}

TEST_CASE("of a Zipf stream what is missed is about what a place has") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  const test::Zipf zipf(100'000, 1.05);
  Counted counted(128);
  for (uint64_t i = test::Scaled(200'000); i > 0; --i) {
    counted.Add("user:" + std::to_string(zipf.Next(random)));
  }
  counted.RequirePromises();
  CHECK(counted.sketch.bound() <= counted.total / 500);
}

}  // namespace
}  // namespace tally::misra_gries_test
