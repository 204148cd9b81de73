// Space-saving against exact counts; SCALE=50 makes the Zipf streams ten million events long.
#include "core/sketch/space_saving.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/sketch/window_top.h"
#include "random_seed.h"
#include "scale.h"
#include "zipf.h"

namespace tally::space_saving_test {
namespace {

using test::SeededRandom;
using test::Zipf;

size_t Events() { return test::Scaled(200'000); }

std::string NameOf(size_t rank) { return "user:" + std::to_string(rank); }

uint64_t Hash(const std::string& name) { return HashOf({.key = name}, 7); }

void Add(SpaceSaving& sketch, const std::string& name, uint64_t weight = 1, int64_t at_ms = 0) {
  sketch.Add(SpaceSaving::CounterOf(Hash(name), {.key = name}, weight, at_ms));
}

const SpaceSaving::Counter* Find(const SpaceSaving& sketch, const std::string& name) {
  for (const SpaceSaving::Counter& item : sketch.items()) {
    if (item.key.view() == name) return &item;
  }
  return nullptr;
}

using Exact = std::unordered_map<std::string, uint64_t>;

// Both promises: of what is held, and of what is not.
void RequirePromises(const SpaceSaving& sketch, const Exact& exact) {
  uint64_t total = 0;
  for (const auto& [name, weight] : exact) total += weight;
  std::unordered_map<std::string_view, const SpaceSaving::Counter*> held;
  for (const SpaceSaving::Counter& item : sketch.items()) {
    REQUIRE(held.emplace(item.key.view(), &item).second);
    const uint64_t weight = exact.at(std::string(item.key.view()));
    REQUIRE(weight <= item.count);
    REQUIRE(item.count - item.error <= weight);
    REQUIRE(item.error <= total / sketch.capacity());
  }
  REQUIRE(sketch.bound() <= total / sketch.capacity());
  for (const auto& [name, weight] : exact) {
    if (weight > sketch.bound()) REQUIRE(held.contains(name));
  }
}

TEST_CASE("a sketch with room for all names is exact") {
  SpaceSaving sketch(3);
  CHECK(sketch.MemoryBytes() == 0);
  Add(sketch, "a", 2, 50);
  Add(sketch, "b", 1, 60);
  Add(sketch, "a", 3, 40);
  REQUIRE(sketch.items().size() == 2);
  CHECK(Find(sketch, "a")->count == 5);
  CHECK(Find(sketch, "a")->error == 0);
  CHECK(Find(sketch, "a")->last_ms == 50);
  CHECK(sketch.bound() == 0);
}

TEST_CASE("the lightest gives its place, and its weight is the error of the next") {
  SpaceSaving sketch(2);
  Add(sketch, "a", 5);
  Add(sketch, "b", 2);
  Add(sketch, "c", 1);
  CHECK(Find(sketch, "b") == nullptr);
  CHECK(Find(sketch, "c")->count == 3);
  CHECK(Find(sketch, "c")->error == 2);
  CHECK(sketch.bound() == 3);
  sketch.Clear();
  CHECK(sketch.items().empty());
  Add(sketch, "b");
  CHECK(Find(sketch, "b")->count == 1);
}

TEST_CASE("labels, kinds and what lies beyond the bytes that are kept tell names apart") {
  SpaceSaving sketch(8);
  const std::string base(64, 'x');
  const std::string one = base + "one";
  const std::string other = base + "other";
  const SketchName names[] = {{.key = one},
                              {.key = other},
                              {.key = one, .label = "p"},
                              {.key = one, .label = "p", .kind = 1}};
  for (const SketchName& name : names) {
    sketch.Add(SpaceSaving::CounterOf(HashOf(name, 1), name, 1, 0));
  }
  REQUIRE(sketch.items().size() == 4);
  for (const SpaceSaving::Counter& item : sketch.items()) {
    CHECK(item.count == 1);
    CHECK(item.key.truncated());
    CHECK(item.key.view() == base);
  }
  CHECK(sketch.items()[0].key.Matches(one));
  CHECK_FALSE(sketch.items()[0].key.Matches(other));
}

TEST_CASE("weighted streams of all kinds keep both promises") {
  SeededRandom random;
  for (int round = 0; round < 60; ++round) {
    SpaceSaving sketch(1 + random.Below(40));
    const size_t names = 1 + random.Below(120);
    Exact exact;
    for (int i = 0; i < 2000; ++i) {
      // Each name once after the other is what hurts a sketch most.
      const size_t rank = round % 3 == 0 ? static_cast<size_t>(i) % names : random.Below(names);
      const uint64_t weight = round % 2 == 0 ? 1 : random.Below(1000);
      exact[NameOf(rank)] += weight;
      Add(sketch, NameOf(rank), weight);
      if (i % 500 == 499) RequirePromises(sketch, exact);
    }
  }
}

TEST_CASE("a Zipf stream: every name above the bound is there, and no error exceeds what is said") {
  SeededRandom random;
  const Zipf zipf(100'000, 1.05);
  for (const size_t capacity : {100, 600}) {
    SpaceSaving sketch(capacity);
    Exact exact;
    for (size_t i = Events(); i > 0; --i) {
      const std::string name = NameOf(zipf.Next(random));
      ++exact[name];
      Add(sketch, name);
    }
    RequirePromises(sketch, exact);
    CHECK(exact.at(NameOf(0)) > sketch.bound());  // so the promise says something
  }
}

TEST_CASE("a window covers its step and the five before, and nothing else") {
  constexpr int64_t kBegin = 1'795'230'400'000 - 1'795'230'400'000 % 10'000;
  WindowTop window(60'000, 4);
  const auto add = [&](const std::string& name, int64_t at) {
    window.Add(SpaceSaving::CounterOf(Hash(name), {.key = name}, 1, at), at);
  };
  add("a", kBegin);
  add("a", kBegin + 9'999);
  add("b", kBegin + 10'000);
  CHECK(window.Top(kBegin + 59'999).size() == 2);
  CHECK(window.Top(kBegin + 59'999)[0].count == 2);
  REQUIRE(window.Top(kBegin + 60'000).size() == 1);
  CHECK(window.Top(kBegin + 60'000)[0].key.view() == "b");
  CHECK(window.Top(kBegin + 70'000).empty());
  // The place of the first step is used again; a clock that goes back a little loses nothing.
  add("c", kBegin + 60'000);
  add("b", kBegin + 59'000);
  CHECK(window.Top(kBegin + 60'000).size() == 2);
  CHECK(window.Top(kBegin).empty());
  // What comes too late is left out, and displaces nothing.
  window.Add(SpaceSaving::CounterOf(Hash("late"), {.key = "late"}, 1, kBegin), kBegin + 60'000);
  CHECK(window.Top(kBegin + 60'000).size() == 2);
  window.Clear();
  CHECK(window.Top(kBegin + 60'000).empty());
}

TEST_CASE("a window agrees with exact counts of the same steps, within the error of each answer") {
  SeededRandom random;
  const Zipf zipf(20'000, 1.1);
  constexpr int64_t kStep = 50'000;
  WindowTop window(6 * kStep, 80);
  std::map<int64_t, Exact> by_step;
  int64_t now = 1'795'230'400'000;
  for (size_t i = Events() / 4; i > 0; --i) {
    now += static_cast<int64_t>(random.Below(40));
    const std::string name = NameOf(zipf.Next(random));
    ++by_step[now / kStep][name];
    window.Add(SpaceSaving::CounterOf(Hash(name), {.key = name}, 1, now), now);
    if (i % 20'000 != 0) continue;
    Exact exact;
    uint64_t total = 0;
    for (auto step = by_step.lower_bound(now / kStep - 5); step != by_step.end(); ++step) {
      for (const auto& [one, weight] : step->second) {
        exact[one] += weight;
        total += weight;
      }
    }
    const uint64_t bound = window.bound(now);
    REQUIRE(bound <= total / 80);
    for (const TopItem& item : window.Top(now)) {
      const auto found = exact.extract(std::string(item.key.view()));
      REQUIRE(found);
      REQUIRE(found.mapped() <= item.count);
      REQUIRE(item.count - item.error <= found.mapped());
      REQUIRE(item.error <= bound);
    }
    for (const auto& [one, weight] : exact) REQUIRE(weight <= bound);
  }
}

}  // namespace
}  // namespace tally::space_saving_test
