#include "core/table/table_snapshot.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <string_view>

#include "random_seed.h"

namespace tally::table_snapshot_test {
namespace {

using test::SeededRandom;

using Records = std::map<std::string, std::string>;

// A table whose snapshot is saved while it changes.
struct WalkedTable {
  explicit WalkedTable(uint64_t seed) : table(seed) {}

  Records Dump() const {
    Records all;
    table.ForEach(
        [&](const RecordTable::Record& record) { all.emplace(record.key(), record.payload()); });
    return all;
  }
  void Begin(uint64_t number) {
    snapshot = TableSnapshot(number);
    saved.clear();
    most_at_once = 0;
  }
  bool SaveNext() {
    size_t bytes = 0;
    const bool more = snapshot.SaveNext(table, [&](const RecordTable::Record& record) {
      bytes += record.size();
      Save(record);
    });
    most_at_once = std::max(most_at_once, bytes);
    return more;
  }
  void BeforeChange(const std::string& key) {
    snapshot.BeforeChange(table, table.SegmentFor(table.Hash(key)), key, table.Find(key),
                          [&](const RecordTable::Record& record) { Save(record); });
  }
  void Put(const std::string& key, const std::string& payload) {
    BeforeChange(key);
    if (const RecordTable::Record old = table.Find(key)) table.Erase(old);
    payload.copy(table.Insert(key, payload.size()).data(), payload.size());
  }
  void Erase(const std::string& key) {
    BeforeChange(key);
    if (const RecordTable::Record old = table.Find(key)) table.Erase(old);
  }

  RecordTable table;
  TableSnapshot snapshot{0};
  Records saved;
  size_t most_at_once = 0;

 private:
  void Save(const RecordTable::Record& record) {
    const bool is_first = saved.emplace(record.key(), record.payload()).second;
    REQUIRE(is_first);
  }
};

// Of `large_in` payloads one is large.
std::string PayloadOf(SeededRandom& random, uint64_t large_in) {
  const size_t size = random.OneIn(large_in) ? random.Below(400 << 10)
                      : random.OneIn(10)     ? random.Below(3000)
                                             : random.Below(40);
  return std::string(size, static_cast<char>('a' + random.Below(26)));
}

TEST_CASE("a table's snapshot is what the table was, whatever changes while it is saved") {
  SeededRandom random;
  INFO("seed " << random.seed());
  WalkedTable walked(random.Next());
  // Few keys have many large records, so that segments of them are saved record by record.
  const auto change = [&](uint64_t keys) {
    const std::string key = std::to_string(random.Below(keys));
    if (random.OneIn(3)) {
      walked.Erase(key);
    } else {
      walked.Put(key, PayloadOf(random, keys / 10));
    }
  };
  for (uint64_t number = 1; number <= 8; ++number) {
    const uint64_t keys = random.OneIn(2) ? 200 : 6000;
    for (int i = 0; i < 4000; ++i) change(keys);
    const Records begun = walked.Dump();
    walked.Begin(number);
    // Few changes leave marks, many save whole segments ahead of their turn.
    const uint64_t changes = random.OneIn(2) ? 3 : 300;
    while (walked.SaveNext()) {
      for (uint64_t i = random.Below(changes); i > 0; --i) change(keys);
    }
    CHECK(walked.saved == begun);
    CHECK_FALSE(walked.SaveNext());
  }
}

TEST_CASE("a step of a table's snapshot saves one record of a segment of large ones") {
  WalkedTable walked(7);
  for (int i = 0; i < 20; ++i) walked.Put(std::to_string(i), std::string(1 << 20, 'x'));
  const Records begun = walked.Dump();
  walked.Begin(1);
  REQUIRE(walked.SaveNext());  // lists the keys
  walked.Put("3", "changed");
  walked.Erase("4");
  walked.Put("new", "newer than the snapshot");
  while (walked.SaveNext()) {
  }
  CHECK(walked.saved == begun);
  CHECK(walked.most_at_once == 1 << 20);
}

TEST_CASE("a few records of a segment are saved ahead of their turn, the next one saves them all") {
  WalkedTable walked(7);
  for (int i = 0; i < 100; ++i) walked.Put(std::to_string(i), "one segment");
  walked.Begin(1);
  for (int i = 0; i < 32; ++i) walked.Put(std::to_string(i), "changed");
  CHECK(walked.saved.size() == 32);
  walked.Put("99", "changed");
  CHECK(walked.saved.size() == 100);
  CHECK_FALSE(walked.SaveNext());
}

}  // namespace
}  // namespace tally::table_snapshot_test
