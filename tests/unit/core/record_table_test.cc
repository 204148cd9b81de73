#include "core/table/record_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "random_seed.h"

namespace tally::record_table_test {
namespace {

using test::SeededRandom;

void Put(RecordTable& table, const std::string& key, const std::string& payload) {
  RecordTable::Record record = table.Find(key);
  if (record) {
    std::string kept(record.payload());
    record = table.Resize(record, payload.size());
    REQUIRE(record.key() == key);
    kept.resize(std::min(kept.size(), payload.size()));
    REQUIRE(record.payload().substr(0, kept.size()) == kept);
  } else {
    record = table.Insert(key, payload.size());
  }
  std::copy(payload.begin(), payload.end(), record.data());
}

std::map<std::string, std::string> Dump(const RecordTable& table) {
  std::map<std::string, std::string> all;
  table.ForEach([&](const RecordTable::Record& record) {
    REQUIRE(all.emplace(record.key(), record.payload()).second);
  });
  return all;
}

TEST_CASE("a record table agrees with a map through random changes") {
  SeededRandom random;
  INFO("seed " << random.seed());
  RecordTable table(random.Next());
  if (random.OneIn(2)) table.Reserve(random.Below(100000));
  std::map<std::string, std::string> model;
  for (int step = 0; step < 60000; ++step) {
    std::string key = std::to_string(random.Below(6000));
    if (random.OneIn(200)) key.append(random.Below(400), 'k');
    const auto choice = random.Below(step < 30000 ? 10 : 16);
    if (choice < 7) {
      const std::string payload(random.OneIn(100) ? random.Below(5000) : random.Below(40),
                                static_cast<char>('a' + random.Below(26)));
      Put(table, key, payload);
      model[key] = payload;
    } else if (choice < 9 || choice >= 10) {
      const auto record = table.Find(key);
      REQUIRE(static_cast<bool>(record) == (model.count(key) == 1));
      if (record) {
        REQUIRE(record.payload() == model[key]);
        table.Erase(record);
        model.erase(key);
      }
    } else {
      const auto record = table.Find(key);
      REQUIRE(static_cast<bool>(record) == (model.count(key) == 1));
    }
    REQUIRE(table.size() == model.size());
  }
  REQUIRE(Dump(table) == model);

  // Prefetching is seen by nobody; keys may be there or not.
  std::vector<std::string> keys;
  for (size_t i = 0; i < RecordTable::kMaxPrefetch; ++i) keys.push_back(std::to_string(i * 200));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  table.Prefetch(views);
  table.Prefetch({});
  REQUIRE(Dump(table) == model);
}

TEST_CASE("a scan visits what stays exactly once, whatever comes and goes meanwhile") {
  SeededRandom random;
  INFO("seed " << random.seed());
  RecordTable table(random.Next());
  std::set<std::string> stable;
  for (int i = 0; i < 3000; ++i) {
    const std::string key = "s" + std::to_string(i);
    Put(table, key, "");
    stable.insert(key);
  }
  std::map<std::string, int> seen;
  uint64_t cursor = 0;
  int made = 0;
  do {
    cursor = table.Scan(cursor, random.Below(20), [&](const RecordTable::Record& record) {
      ++seen[std::string(record.key())];
    });
    REQUIRE(cursor < (uint64_t{1} << 48));
    for (int i = 0; i < 30; ++i) Put(table, "n" + std::to_string(made++), "x");
    if (const auto gone =
            table.Find("n" + std::to_string(random.Below(static_cast<uint64_t>(made)))))
      table.Erase(gone);
  } while (cursor != 0);
  for (const std::string& key : stable) REQUIRE(seen[key] == 1);
}

TEST_CASE("sampling reaches every record and none that is gone") {
  SeededRandom random;
  INFO("seed " << random.seed());
  RecordTable table(random.Next());
  REQUIRE_FALSE(table.Sample(random.Next()));
  for (int i = 0; i < 2000; ++i) Put(table, std::to_string(i), "");
  for (int i = 5; i < 2000; ++i) table.Erase(table.Find(std::to_string(i)));
  std::set<std::string> seen;
  for (int i = 0; i < 2000; ++i) seen.insert(std::string(table.Sample(random.Next()).key()));
  REQUIRE(seen == std::set<std::string>{"0", "1", "2", "3", "4"});
}

TEST_CASE("samples drawn together are those drawn one by one") {
  SeededRandom random;
  INFO("seed " << random.seed());
  RecordTable table(random.Next());
  table.SampleMany(
      3, [&] { return random.Next(); }, [](const auto&) { FAIL("there is nothing to visit"); });
  for (int i = 0; i < 20'000; ++i) Put(table, "key:" + std::to_string(i), "");
  for (int i = 0; i < 15'000; ++i) table.Erase(table.Find("key:" + std::to_string(i)));
  // More than a batch.
  for (const size_t count : {size_t{0}, size_t{1}, size_t{300'000}}) {
    std::vector<uint64_t> numbers;
    size_t visited = 0;
    table.SampleMany(
        count, [&] { return numbers.emplace_back(random.Next()); },
        [&](const RecordTable::Record& record) {
          const RecordTable::Record alone = table.Sample(numbers[visited++]);
          if (record.key() != alone.key()) FAIL("sample " << visited << " is another");
        });
    REQUIRE(numbers.size() == count);
    REQUIRE(visited == count);
  }
}

TEST_CASE("a key of 15 bytes with a payload of 20 costs at most 52 bytes at any size") {
  RecordTable table(7);
  size_t worst = 0;
  for (int i = 0; i < 400000; ++i) {
    char key[16];
    std::snprintf(key, sizeof key, "counter:%07d", i);
    table.Insert(std::string_view(key, 15), 20);
    if (i > 50000 && i % 1000 == 0)
      worst = std::max(worst, table.MemoryBytes() * 100 / table.size());
  }
  CHECK(worst <= 5400);
  CHECK(table.MemoryBytes() / table.size() <= 52);
}

TEST_CASE("a split is told to the observer, and the notes go with both halves") {
  struct Observer : RecordTable::SplitObserver {
    void OnSplit(RecordTable::Segment& from, RecordTable::Segment& into) override {
      ++splits;
      REQUIRE(into.due_ms == from.due_ms);
      REQUIRE(into.epoch == from.epoch);
    }
    int splits = 0;
  } observer;
  RecordTable table(7, &observer);
  for (int i = 0; i < 100; ++i) {
    auto record = table.Insert(std::to_string(i), 0);
    record.segment().due_ms = 42;
    record.segment().epoch = 3;
  }
  for (int i = 100; i < 5000; ++i) table.Insert(std::to_string(i), 0);
  REQUIRE(observer.splits >= 5);
  uint64_t position = 0;
  size_t records = 0;
  while (auto* segment = table.NextSegment(position)) {
    REQUIRE(segment->due_ms == 42);
    records += segment->size();
  }
  REQUIRE(records == 5000);
}

TEST_CASE("a reserved table does not split, and is no larger than one that has grown") {
  struct Observer : RecordTable::SplitObserver {
    void OnSplit(RecordTable::Segment&, RecordTable::Segment&) override { ++splits; }
    int splits = 0;
  };
  for (const size_t records : {0, 1, 700, 801, 5000, 60000, 100000}) {
    INFO(records << " records");
    Observer observer;
    RecordTable reserved(7, &observer);
    RecordTable grown(7);
    reserved.Reserve(records);
    for (size_t i = 0; i < records; ++i) {
      const std::string key = "counter:" + std::to_string(1'000'000 + i);
      Put(reserved, key, "a value of some length");
      Put(grown, key, "a value of some length");
    }
    CHECK(observer.splits <= static_cast<int>(records / 10'000));
    CHECK(reserved.MemoryBytes() <= grown.MemoryBytes() + grown.MemoryBytes() / 20);
    CHECK(reserved.size() == records);
    CHECK(Dump(reserved) == Dump(grown));
    uint64_t cursor = 0;
    size_t scanned = 0;
    do {
      cursor = reserved.Scan(cursor, 100, [&](const RecordTable::Record&) { ++scanned; });
    } while (cursor != 0);
    CHECK(scanned == records);
  }
}

TEST_CASE("a promise of records that never come costs little, one that comes late nothing") {
  RecordTable promised(7);
  promised.Reserve(SIZE_MAX);
  CHECK(promised.MemoryBytes() < size_t{128} << 20);
  Put(promised, std::string(100'000, 'k'), "v");
  CHECK(promised.Find(std::string(100'000, 'k')).payload() == "v");
  promised.Clear();
  CHECK(promised.MemoryBytes() < 1000);

  RecordTable late(7);
  Put(late, "a", "b");
  const size_t before = late.MemoryBytes();
  late.Reserve(1'000'000);
  CHECK(late.MemoryBytes() == before);
  CHECK(late.Find("a").payload() == "b");
}

TEST_CASE("freeing in slices ends, and clear makes the table usable again") {
  RecordTable table(7);
  for (int i = 0; i < 5000; ++i) table.Insert(std::to_string(i), 3);
  int slices = 0;
  while (!table.FreeSome(1)) ++slices;
  REQUIRE(slices >= 4);
  table.Clear();
  REQUIRE(table.empty());
  Put(table, "a", "b");
  REQUIRE(table.Find("a").payload() == "b");
}

TEST_CASE("a table that is emptied keeps a small buffer, and gives a large one back") {
  for (const size_t size : {size_t{100}, size_t{1'000}}) {
    RecordTable table(7);
    const size_t empty = table.MemoryBytes();
    Put(table, "key", std::string(size, 'x'));
    const size_t filled = table.MemoryBytes();
    table.Erase(table.Find("key"));
    CHECK((table.MemoryBytes() == (size == 100 ? filled : empty)));
    Put(table, "key", std::string(size, 'y'));
    CHECK(table.MemoryBytes() == filled);
    CHECK(table.Find("key").payload() == std::string(size, 'y'));
  }
}

// Of 32 bytes, of which the first eight, with this seed, take eight others out of XXH3's sum: all
// these keys have one hash.
std::string CollidingKey(uint64_t seed, uint64_t number) {
  constexpr unsigned char kSecret[] = {0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe};
  uint64_t cancel = 0;
  std::memcpy(&cancel, kSecret, sizeof(cancel));
  cancel += seed;
  std::string key(32, 'k');
  std::memcpy(key.data(), &cancel, sizeof(cancel));
  std::memcpy(key.data() + sizeof(cancel), &number, sizeof(number));
  return key;
}

TEST_CASE("a record that becomes shorter stays where it is, and its rest is freed by a pack") {
  RecordTable table(1);
  Put(table, "a", std::string(60, 'a'));
  Put(table, "b", std::string(60, 'b'));
  const RecordTable::Record a = table.Find("a");
  RecordTable::Segment& segment = a.segment();
  const RecordTable::Record shorter = table.Resize(a, 20);
  CHECK(shorter.data() == a.data());
  CHECK(shorter.payload() == std::string(20, 'a'));
  CHECK(segment.dead_bytes() == 40);
  // The last one leaves nothing behind.
  table.Resize(table.Find("b"), 10);
  CHECK(segment.dead_bytes() == 40);
  const size_t live = segment.bytes();
  table.Pack(segment);
  CHECK(segment.dead_bytes() == 0);
  CHECK(segment.bytes() == live);
  CHECK(Dump(table) == std::map<std::string, std::string>{{"a", std::string(20, 'a')},
                                                          {"b", std::string(10, 'b')}});
}

TEST_CASE("keys that all have one hash make a segment large, and nothing else") {
  constexpr uint64_t kSeed = 42;
  constexpr uint64_t kKeys = 3000;
  for (const size_t payload : {size_t{8}, size_t{4000}}) {
    RecordTable table(kSeed);
    REQUIRE(table.Hash(CollidingKey(kSeed, 1)) == table.Hash(CollidingKey(kSeed, 2)));
    for (uint64_t i = 0; i < kKeys; ++i) {
      Put(table, CollidingKey(kSeed, i), std::string(payload, static_cast<char>(i)));
    }
    REQUIRE(table.MemoryBytes() < kKeys * (payload + 100) * 2 + 200'000);
    for (uint64_t i = 0; i < 20'000; ++i) Put(table, std::to_string(i), "v");
    REQUIRE(table.size() == kKeys + 20'000);
    for (uint64_t i = 0; i < kKeys; ++i) {
      REQUIRE(table.Find(CollidingKey(kSeed, i)).payload() ==
              std::string(payload, static_cast<char>(i)));
    }
    size_t seen = 0;
    uint64_t cursor = 0;
    do {
      cursor = table.Scan(cursor, 100, [&](const RecordTable::Record&) { ++seen; });
    } while (cursor != 0);
    REQUIRE(seen == table.size());
    for (uint64_t i = 0; i < kKeys; ++i) table.Erase(table.Find(CollidingKey(kSeed, i)));
    REQUIRE(table.size() == 20'000);
  }
}

}  // namespace
}  // namespace tally::record_table_test
