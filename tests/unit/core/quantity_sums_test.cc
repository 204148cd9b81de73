#include "core/quota/quantity_sums.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "random_seed.h"

namespace tally::quantity_sums_test {
namespace {

using Key = QuantitySums::Key;

constexpr int64_t kEarliest = std::numeric_limits<int64_t>::min();

// The sums of a map of quantities, computed anew for each answer.
class NaiveSums {
 public:
  void Add(const Key& key, int64_t qty) { quantities_[key] += qty; }
  void Clear(BookId sku, BookId action) {
    std::erase_if(quantities_, [&](const auto& entry) {
      return entry.first.sku == sku && entry.first.action == action;
    });
  }
  int64_t SumAfter(BookId sku, BookId action, int64_t after_ms) const {
    int64_t sum = 0;
    for (const auto& [key, qty] : quantities_) {
      if (key.sku == sku && key.action == action && key.ts_ms > after_ms) sum += qty;
    }
    return sum;
  }
  int64_t FirstAfter(BookId sku, BookId action, int64_t after_ms) const {
    for (const auto& [key, qty] : quantities_) {
      const bool is_of = key.sku == sku && key.action == action;
      if (is_of && key.ts_ms > after_ms && qty > 0) return key.ts_ms;
    }
    return std::numeric_limits<int64_t>::max();
  }
  const std::map<Key, int64_t>& quantities() const { return quantities_; }

 private:
  std::map<Key, int64_t> quantities_;
};

struct Shape {
  int64_t skus;
  int64_t times;
};

TEST_CASE("sums of quantities are those of a map") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  const Shape shape = GENERATE(Shape{1, 4000}, Shape{3, 2000}, Shape{5000, 2});
  QuantitySums sums;
  NaiveSums naive;
  const auto any_id = [&](int64_t below) {
    return BookId(random.Between(-below, below), random.OneIn(3));
  };
  const auto any_key = [&] {
    return Key{any_id(shape.skus), any_id(1), 1'760'000'000'000 + random.Between(0, shape.times)};
  };
  const auto compare = [&] {
    QuantitySums::Reader reader(sums);
    for (int i = 0; i < 20; ++i) {
      const Key key = any_key();
      const int64_t after_ms = random.OneIn(4) ? kEarliest : key.ts_ms;
      const int64_t sum = naive.SumAfter(key.sku, key.action, after_ms);
      REQUIRE(sums.SumAfter(key.sku, key.action, after_ms) == sum);
      REQUIRE(reader.SumAfter(key.sku, key.action, after_ms) == sum);
      REQUIRE(sums.FirstAfter(key.sku, key.action, after_ms) ==
              naive.FirstAfter(key.sku, key.action, after_ms));
    }
    REQUIRE(sums.FirstAfter(1, 0, std::numeric_limits<int64_t>::max()) ==
            std::numeric_limits<int64_t>::max());
  };
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 6000; ++i) {
      const Key key = any_key();
      const int64_t qty = random.Between(0, 9);
      sums.Add(key, qty);
      naive.Add(key, qty);
    }
    compare();
    for (int i = 0; i < 5000; ++i) {
      const auto held = naive.quantities().lower_bound(any_key());
      if (held == naive.quantities().end()) continue;
      const int64_t qty = random.OneIn(2) ? held->second : random.Between(0, held->second);
      sums.Subtract(held->first, qty);
      naive.Add(held->first, -qty);
    }
    compare();
    const Key key = any_key();
    sums.Clear(key.sku, key.action);
    naive.Clear(key.sku, key.action);
    compare();
    if (round == 2) {
      std::vector<QuantitySums::Entry> entries;
      for (const auto& [held, qty] : naive.quantities()) entries.push_back({held, qty});
      sums.Assign(std::move(entries));
      compare();
    }
  }
  for (const auto& [held, qty] : naive.quantities()) sums.Subtract(held, qty);
  REQUIRE(sums.empty());
  REQUIRE(sums.MemoryBytes() < 1000);
}

// More than fills one branch, in the order of time, as a user buys one SKU.
TEST_CASE("sums of quantities of one SKU in the order of time are packed") {
  constexpr int64_t kEntries = 100'000;
  QuantitySums sums;
  for (int64_t i = 0; i < kEntries; ++i) sums.Add({1, 0, 1000 * i}, 1);
  REQUIRE(sums.SumAfter(1, 0, 1000 * 49'999) == 50'000);
  REQUIRE(sums.SumAfter(1, 0, kEarliest) == kEntries);
  REQUIRE(sums.MemoryBytes() < 10 * kEntries);
  sums.Clear(1, 0);
  REQUIRE(sums.empty());
}

}  // namespace
}  // namespace tally::quantity_sums_test
