// Snapshots of values that change meanwhile: they hold what the value held at the begin, and no
// step of one takes long, however large the elements are.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/run_sink.h"
#include "core/bytes/str_cat.h"
#include "core/hash/hash.h"
#include "core/keyspace/value.h"
#include "core/list/list.h"
#include "core/list/string_deque_snapshot.h"
#include "core/snapshot/text_snapshot.h"
#include "core/zset/zset.h"
#include "random_seed.h"
#include "scale.h"

namespace tally::value_steps_test {
namespace {

using test::SeededRandom;

// The runs of a snapshot, and how many bytes came between two looks.
struct Runs {
  RunSink Sink() {
    return [this](std::string_view run) {
      runs.emplace_back(run);
      bytes += run.size();
    };
  }
  size_t BytesSince() { return std::exchange(bytes, 0); }

  std::vector<std::string> runs;
  size_t bytes = 0;
};

// Few are large.
std::string RandomText(SeededRandom& random) {
  const size_t power = random.OneIn(30) ? 18 : 6;
  return std::string(random.Below(size_t{1} << random.Below(power)),
                     static_cast<char>('a' + random.Below(26)));
}

std::map<std::string, std::string> FieldsOf(const Hash& hash) {
  std::map<std::string, std::string> fields;
  hash.ForEach([&](std::string_view field, std::string_view value) {
    REQUIRE(fields.emplace(field, value).second);
  });
  return fields;
}

std::string RandomField(SeededRandom& random, size_t fields) {
  const size_t number = random.Below(fields);
  // Always the same name for the same number; one in 16 is long.
  return StrCat("f", number, std::string(number % 16 == 0 ? number * 150 : 0, 'n'));
}

TEST_CASE("A snapshot of a hash has the fields of its begin, whatever their sizes and changes") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  for (uint64_t round = test::Scaled(20); round > 0; --round) {
    Hash hash(random.Next());
    const size_t fields = 1 + random.Below(random.OneIn(3) ? 2000 : 100);
    for (size_t i = 0; i < fields; ++i) {
      hash.Set(RandomField(random, fields), RandomText(random), {});
    }
    const auto before = FieldsOf(hash);
    Runs runs;
    if (!hash.BeginSnapshot(runs.Sink())) continue;
    do {
      for (size_t i = random.Below(8); i > 0; --i) {
        const std::string field = RandomField(random, 2 * fields);
        random.OneIn(3) ? hash.Erase(field) : hash.Set(field, RandomText(random), {});
      }
    } while (hash.SaveSnapshot());
    Hash loaded(1);
    for (const std::string& run : runs.runs) REQUIRE(loaded.Load(run));
    const bool same = FieldsOf(loaded) == before;
    REQUIRE(same);
  }
}

TEST_CASE("A step of the snapshot of a hash of large fields saves one of them") {
  constexpr size_t kBytes = 1'000'000;
  for (const bool long_names : {false, true}) {
    Hash hash(7);
    for (int i = 0; i < 60; ++i) {
      const std::string large(kBytes, static_cast<char>('a' + i % 26));
      hash.Set(StrCat(i, long_names ? large : "f"), long_names ? "v" : large, {});
    }
    Runs runs;
    REQUIRE(hash.BeginSnapshot(runs.Sink()));
    size_t steps = 0;
    do {
      // More changes than a segment has marks, so that the rest of it is saved ahead of its turn.
      for (int i = 0; i < 5; ++i) hash.Set(StrCat("new", steps * 5 + i), "v", {});
      CHECK(runs.BytesSince() <= kBytes + 70'000);
      ++steps;
    } while (hash.SaveSnapshot());
    CHECK(steps > 50);
  }
}

TEST_CASE("A step of the snapshot of a sorted set of large members saves one of them") {
  constexpr size_t kBytes = 1'000'000;
  ZSet set(7);
  for (int i = 0; i < 60; ++i) set.Set(StrCat(i, std::string(kBytes, 'm')), i, {});
  Runs runs;
  REQUIRE(set.BeginSnapshot(runs.Sink()));
  for (bool more = true; more;) {
    more = set.SaveSnapshot();
    CHECK(runs.BytesSince() <= kBytes + 70'000);
  }
  ZSet loaded(7);
  for (const std::string& run : runs.runs) REQUIRE(loaded.Load(run, {}));
  CHECK(loaded.size() == 60);
}

std::vector<std::string> EntriesOf(const List& list) {
  std::vector<std::string> entries;
  list.ForEach(0, list.size(), [&](std::string_view text) {
    entries.emplace_back(text);
    return true;
  });
  return entries;
}

void ChangeList(List& list, SeededRandom& random) {
  const size_t at = random.Below(list.size());
  const std::string text = RandomText(random) + "x";
  switch (random.Below(10)) {
    case 0:
      list.Insert(at, text);
      break;
    case 1:
      list.Erase(at);
      break;
    case 2:
      list.PushFront(text);
      break;
    case 3:
      list.PushBack(text);
      break;
    case 4:
      list.RemoveMatching(random.Between(-30, 30), list.At(at));
      break;
    case 5:
      list.Trim(std::min(list.size(), random.Below(30)), list.size());
      break;
    case 6:
      list.Trim(0, list.size() - std::min(list.size(), random.Below(30)));
      break;
    default:
      list.Set(at, text);
  }
  if (list.empty()) list.PushBack("only");
}

TEST_CASE("A snapshot of a list has the entries of its begin, in their order, after any changes") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  for (uint64_t round = test::Scaled(60); round > 0; --round) {
    List list;
    list.PushBack("text");
    for (size_t i = random.Below(4000); i > 0; --i) list.PushBack(RandomText(random));
    const std::vector<std::string> before = EntriesOf(list);
    const size_t most_changes = 1 + random.Below(40);
    Runs runs;
    REQUIRE(list.BeginSnapshot(runs.Sink()));
    do {
      for (size_t i = random.Below(most_changes); i > 0; --i) ChangeList(list, random);
    } while (list.SaveSnapshot());
    List loaded;
    for (const std::string& run : runs.runs) REQUIRE(loaded.Load(run));
    const bool same = EntriesOf(loaded) == before;
    REQUIRE(same);
  }
}

// What was copied is known from changes that the snapshot is not told of: they are saved unless the
// old bytes were copied before.
TEST_CASE("A change in the middle of a long list copies one chunk") {
  StringDequeSnapshot::Chunks chunks;
  for (int i = 0; i < 100; ++i) {
    StringChunk chunk;
    chunk.Insert(0, StrCat("old", i));
    chunks.PushBack(std::move(chunk));
  }
  Runs runs;
  StringDequeSnapshot snapshot(chunks, 's', runs.Sink());
  for (const size_t k : {50, 20, 70}) snapshot.BeforeChange(chunks, k);
  for (size_t k = 0; k < 100; ++k) {
    chunks[k].Erase(0);
    chunks[k].Insert(0, "new");
  }
  while (snapshot.SaveSome(chunks)) {
  }
  List saved;
  for (const std::string& run : runs.runs) REQUIRE(saved.Load(run));
  std::vector<std::string> expected(100, "new");
  for (const size_t k : {20, 50, 70}) expected[k] = StrCat("old", k);
  CHECK(EntriesOf(saved) == expected);
}

TEST_CASE("A snapshot of a string has the bytes of its begin, whatever is changed and appended") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  for (uint64_t round = test::Scaled(100); round > 0; --round) {
    Text text(std::string(1 + random.Below(1'000'000), 'a'));
    for (size_t i = 0; i < 1000; ++i) {
      text[random.Below(text.size())] = static_cast<char>(random.Next());
    }
    const std::string before(text.view());
    TextSnapshot snapshot(text);
    std::string saved;
    do {
      for (size_t i = random.Below(5); i > 0; --i) {
        const size_t begin = random.Below(text.size());
        const size_t end = std::min(text.size(), begin + random.Below(100'000));
        if (random.OneIn(50)) {
          snapshot.BeforeChange({});
          text = Text(std::string(1 + random.Below(1000), 'n'));
        } else if (random.OneIn(3)) {
          snapshot.BeforeChange({.begin = text.size()});
          text.Append(std::string(random.Below(100'000), 't'));
        } else {
          snapshot.BeforeChange({begin, end});
          std::fill(text.data() + begin, text.data() + end, static_cast<char>(random.Next()));
        }
      }
    } while (snapshot.SaveSome(1 + random.Below(100'000), saved));
    const bool same = saved == before;
    REQUIRE(same);
  }
}

TEST_CASE("A change of one byte of a string copies one page, and an append copies none") {
  Text text(std::string(10'000'000, 'o'));
  TextSnapshot snapshot(text);
  snapshot.BeforeChange({5'000'000, 5'000'001});
  snapshot.BeforeChange({.begin = text.size()});
  text.Append("tail");
  std::fill(text.data(), text.data() + text.size(), 'n');
  std::string saved;
  while (snapshot.SaveSome(1 << 20, saved)) {
  }
  CHECK(saved.size() == 10'000'000);
  const auto copied = static_cast<size_t>(std::count(saved.begin(), saved.end(), 'o'));
  CHECK(copied >= 1);
  CHECK(copied < 100'000);
  CHECK(saved[5'000'000] == 'o');
}

}  // namespace
}  // namespace tally::value_steps_test
