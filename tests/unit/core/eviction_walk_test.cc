#include "core/engine/eviction_walk.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "random_seed.h"

namespace tally::eviction_walk_test {
namespace {

using test::SeededRandom;
using First = EvictionRule::First;

constexpr int64_t kNow = 1'700'000'000'000;

std::string KeyOf(int64_t i) { return "key:" + std::to_string(i); }
int64_t NumberOf(const std::string& key) { return std::stoll(key.substr(4)); }

void Erase(Engine& engine, const EvictionWalk::Batch& batch, const std::string& key) {
  Keyspace& keyspace = engine.database(batch.database);
  const Keyspace::Entry entry = keyspace.FindForWrite(key, kNow);
  REQUIRE(static_cast<bool>(entry));
  keyspace.Erase(entry);
}

// Evicts `count` keys and returns them in order.
std::vector<std::string> EvictKeys(Engine& engine, const EvictionRule& rule, size_t count) {
  EvictionWalk walk;
  EvictionWalk::Batch batch;
  std::vector<std::string> gone;
  while (gone.size() < count && walk.Next(engine, rule, kNow, batch)) {
    REQUIRE_FALSE(batch.keys.empty());
    for (const std::string& key : batch.keys) {
      Erase(engine, batch, key);
      gone.push_back(key);
    }
    engine.database(batch.database).Pack(*batch.segment);
  }
  return gone;
}

// How many of the evicted keys have a number below `bound`.
size_t CountBelow(const std::vector<std::string>& keys, int64_t bound) {
  return static_cast<size_t>(std::count_if(
      keys.begin(), keys.end(), [&](const std::string& key) { return NumberOf(key) < bound; }));
}

// Keys 0 … count - 1, of which each is used a second after the one before, in a random order of
// making.
void FillByAge(Engine& engine, SeededRandom& random, int64_t count) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(i);
  for (size_t i = numbers.size(); i > 1; --i) std::swap(numbers[i - 1], numbers[random.Below(i)]);
  for (const int64_t i : numbers) {
    const int64_t used = kNow - (count - i) * 1000;
    engine.database(0).SetInteger(KeyOf(i), i, kNoDeadline, used);
  }
}

TEST_CASE("eviction by last use takes nearly only the oldest") {
  SeededRandom random;
  INFO("seed " << random.seed());
  UtcOnly zones;
  Engine engine(1, random.Next(), zones);
  constexpr int64_t kKeys = 100'000;
  FillByAge(engine, random, kKeys);
  const std::vector<std::string> gone = EvictKeys(engine, {First::kLeastRecent, false}, kKeys / 2);
  REQUIRE(gone.size() >= kKeys / 2);
  const double share =
      static_cast<double>(CountBelow(gone, kKeys / 2)) / static_cast<double>(gone.size());
  INFO("of the older half: " << share);
  CHECK(share > 0.97);
  // None of the youngest tenth.
  CHECK(CountBelow(gone, kKeys - kKeys / 10) == gone.size());
}

TEST_CASE("eviction in a segment of few keys is exact, in their order") {
  for (const First first : {First::kLeastRecent, First::kLeastFrequent, First::kSoonestDue}) {
    SeededRandom random;
    INFO("seed " << random.seed() << ", rule " << static_cast<int>(first));
    UtcOnly zones;
    Engine engine(1, random.Next(), zones);
    engine.set_access_tracking({.by_frequency = first == First::kLeastFrequent, .log_factor = 0});
    // By what decides, which is different for each key.
    std::map<int64_t, std::string> model;
    for (int64_t i = 0; i < 16; ++i) {
      const int64_t weight = static_cast<int64_t>(random.Below(15)) * 16 + i;
      model.emplace(weight, KeyOf(i));
      const bool by_deadline = first == First::kSoonestDue;
      const int64_t deadline = by_deadline ? kNow + 1000 + weight : kNoDeadline;
      engine.database(0).SetInteger(
          KeyOf(i), i, deadline,
          first == First::kLeastRecent ? kNow - 1'000'000 + weight * 1000 : kNow);
      // A factor of 0 counts each use.
      for (int64_t use = 0; first == First::kLeastFrequent && use < weight; ++use) {
        engine.database(0).Find(KeyOf(i), kNow);
      }
    }
    EvictionWalk walk;
    EvictionWalk::Batch batch;
    for (const auto& [weight, key] : model) {
      REQUIRE(walk.Next(engine, {first, first == First::kSoonestDue}, kNow, batch));
      REQUIRE(batch.keys == std::vector<std::string>{key});
      Erase(engine, batch, key);
    }
    CHECK_FALSE(walk.Next(engine, {first, first == First::kSoonestDue}, kNow, batch));
  }
}

TEST_CASE("eviction of keys with a deadline spares those without, in all databases") {
  SeededRandom random;
  INFO("seed " << random.seed());
  UtcOnly zones;
  Engine engine(4, random.Next(), zones);
  std::set<std::string> dated;
  for (int64_t i = 0; i < 30'000; ++i) {
    const bool has_deadline = random.OneIn(50);
    Keyspace& keyspace = engine.database(static_cast<size_t>(i % 3) + 1);
    keyspace.SetInteger(KeyOf(i), i, has_deadline ? kNow + 1 + i : kNoDeadline, kNow);
    if (has_deadline) dated.insert(KeyOf(i));
  }
  // Some deadlines leave segments without any.
  for (int64_t i = 0; i < 15'000; ++i) {
    Keyspace& keyspace = engine.database(static_cast<size_t>(i % 3) + 1);
    if (dated.erase(KeyOf(i)) != 0) keyspace.Erase(keyspace.FindForWrite(KeyOf(i), kNow));
  }
  const EvictionRule rule{First::kAny, true};
  const std::vector<std::string> gone = EvictKeys(engine, rule, SIZE_MAX);
  CHECK(std::set<std::string>(gone.begin(), gone.end()) == dated);
  CHECK(gone.size() == dated.size());
}

TEST_CASE("eviction of any key empties everything, and gives its memory back") {
  UtcOnly zones;
  Engine engine(2, 7, zones);
  EvictionWalk walk;
  EvictionWalk::Batch batch;
  CHECK_FALSE(walk.Next(engine, {First::kAny, false}, kNow, batch));
  for (int64_t i = 0; i < 20'000; ++i)
    engine.database(1).SetInteger(KeyOf(i), i, kNow + 1 + i, kNow);
  const size_t full = engine.database(1).table_bytes();
  CHECK(EvictKeys(engine, {First::kAny, false}, 10'000).size() < 10'100);
  const size_t half = engine.database(1).table_bytes();
  CHECK(half < full * 7 / 10);
  EvictKeys(engine, {First::kAny, false}, SIZE_MAX);
  CHECK(engine.database(1).size() == 0);
  CHECK(engine.database(1).table_bytes() < full / 10);
}

}  // namespace
}  // namespace tally::eviction_walk_test
