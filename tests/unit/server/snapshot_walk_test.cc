// A base snapshot holds the state of the moment in which its walk began, whatever happens to the
// keys, and inside of very large values, until it ends.
#include "core/snapshot/snapshot_walk.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "core/hash/hash.h"
#include "core/quota/quota_book.h"
#include "random_seed.h"
#include "scale.h"
#include "server/walked_engine.h"
#include "tests/unit/server/rdb_bytes.h"

namespace tally::server::snapshot_walk_test {
namespace {

using test::SeededRandom;

constexpr int64_t kNow = Walked::kBegin;
constexpr int64_t kUsers = 10'000;
constexpr int64_t kSku = 7;

Walked::Form AnyForm() { return GENERATE(Walked::Form::kBase, Walked::Form::kRdb); }

void Buy(Walked& walked, int64_t user, int64_t order) {
  const Keyspace::Entry entry = walked.keyspace().FindForWrite("book", kNow);
  if (!entry) return;
  const std::vector<QuotaItem> items = {{kSku, 0, 1}};
  QuotaLefts lefts;
  entry.heap<QuotaBook>().Buy({user, order, items, kNow}, kNow, lefts);
}

void Fill(Walked& walked) {
  for (int i = 0; i < 3000; ++i) {
    walked.keyspace().SetInteger(StrCat("key", i), i, kNoDeadline, kNow);
  }
  QuotaBook& book = walked.keyspace().SetHeap("book", new QuotaBook(42), kNoDeadline, kNow);
  book.SetLimits(std::vector<QuotaLimitSpec>{{kSku, 0, 100, 1000}}, kNow);
  for (int64_t user = 0; user < kUsers; ++user) Buy(walked, user, 1);
}

void RequireAsFilled(Engine& loaded) {
  REQUIRE(loaded.database(0).size() == 3001);
  for (int i = 0; i < 3000; ++i) {
    REQUIRE(loaded.database(0).Find(StrCat("key", i), kNow).integer() == i);
  }
  const QuotaBook& book = loaded.database(0).Find("book", kNow).heap<QuotaBook>();
  REQUIRE(book.stats().limits == 1);
  REQUIRE(book.stats().users == kUsers);
  REQUIRE(book.stats().purchases == kUsers);
}

TEST_CASE("A walk saves a large value in slices, as it was when the walk began") {
  SeededRandom random;
  INFO("seed " << random.seed());
  Walked walked(AnyForm());
  Fill(walked);
  const uint64_t renamed_after = random.Below(6);
  const uint64_t deleted_after = random.Below(12);
  for (int walks = 0; walks < 2; ++walks) {
    walked.Begin();
    uint64_t steps = 0;
    do {
      const int64_t known = random.Between(0, kUsers - 1);
      if (walks == 0) {
        Buy(walked, known, 2);
        Buy(walked, kUsers + random.Between(0, kUsers), 3);
        walked.keyspace().SetInteger(StrCat("key", random.Below(4000)), -1, kNoDeadline, kNow);
      }
      if (walks == 0 && steps == renamed_after) {
        void* book = walked.keyspace().Release(walked.keyspace().FindForWrite("book", kNow));
        walked.keyspace().SetPointer("renamed", Type::kQuota, book, kNoDeadline, kNow);
      }
      if (walks == 0 && steps == deleted_after) {
        if (const auto entry = walked.keyspace().FindForWrite("renamed", kNow)) {
          walked.keyspace().Erase(entry);
        }
      }
      ++steps;
    } while (walked.Step());
    REQUIRE(steps > 3);
    Engine loaded(2, 7, walked.zones);
    walked.LoadInto(loaded);
    if (walks == 0) {
      RequireAsFilled(loaded);
    } else {
      REQUIRE(loaded.database(0).size() == walked.keyspace().size());
    }
  }
  while (!walked.engine.reclaimer().FreeSome(1000)) {
  }
}

TEST_CASE("A walk saves what an RDB replaces meanwhile, as it was") {
  SeededRandom random;
  INFO("seed " << random.seed());
  std::string body;
  const auto list = [](const std::string& key) {
    return rdb::test::Byte(1) + rdb::test::Str(key) + rdb::test::Len(1) + rdb::test::Str("new");
  };
  for (int i = 0; i < 4000; ++i) {
    if (i == 2000) body += list("book");
    body += list(StrCat("key", i));
  }
  const std::string file = rdb::test::File("REDIS0010", body);
  Walked walked(AnyForm());
  Fill(walked);
  walked.Begin();
  for (uint64_t steps = random.Below(6); steps > 0; --steps) REQUIRE(walked.Step());
  const ValueLimits limits;
  rdb::SkippedValues skipped;
  rdb::EngineSink sink(walked.engine, limits, skipped, {.replace = true});
  rdb::TextSource source(file);
  rdb::RdbReader reader(source, sink);
  absl::StatusOr<bool> more = true;
  bool walks = true;
  while (more.ok() && *more) {
    more = reader.Next();
    if (walks && random.OneIn(50)) walks = walked.Step();
  }
  REQUIRE(more.ok());
  while (walks) walks = walked.Step();
  Engine loaded(2, 7, walked.zones);
  walked.LoadInto(loaded);
  RequireAsFilled(loaded);
  REQUIRE(walked.keyspace().size() == 4001);
  REQUIRE(walked.keyspace().Find("book", kNow).type() == Type::kList);
  while (!walked.engine.reclaimer().FreeSome(1000)) {
  }
}

TEST_CASE("A walk that is given up gives back the value that it kept from being freed") {
  Walked walked;
  Fill(walked);
  walked.Begin();
  Buy(walked, 1, 2);  // begins the snapshot of the book
  walked.keyspace().Erase(walked.keyspace().FindForWrite("book", kNow));
  REQUIRE(walked.engine.reclaimer().pending() == 0);
  walked.walk = nullptr;
  REQUIRE(walked.engine.reclaimer().pending() == 1);
  while (!walked.engine.reclaimer().FreeSome(1000)) {
  }
}

TEST_CASE("A walk saves policies as they were when it began") {
  Walked walked(AnyForm());
  PolicyTable& policies = walked.engine.policies();
  policies.Set("changed", {"FIXED", "1", "1s"});
  policies.Set("erased", {"ALLOW"});
  walked.Begin();
  policies.Set("changed", {"DENY"});
  policies.Erase("erased");
  policies.Set("later", {"ALLOW"});
  while (walked.Step()) {
  }
  Engine loaded(2, 7, walked.zones);
  walked.LoadInto(loaded);
  CHECK(loaded.policies().size() == 2);
  REQUIRE(loaded.policies().Find("changed") != nullptr);
  CHECK(loaded.policies().Find("changed")->words().front() == "FIXED");
  CHECK(loaded.policies().Find("erased") != nullptr);
}

using Contents = std::map<std::string, int64_t>;

Contents ContentsOf(Engine& engine) {
  Contents contents;
  for (size_t database = 0; database < engine.databases(); ++database) {
    uint64_t position = 0;
    while (Keyspace::Segment* segment = engine.database(database).NextSegment(position)) {
      engine.database(database).ForEach(*segment, [&](const Keyspace::Entry& entry) {
        const int64_t value =
            entry.is_heap() ? static_cast<int64_t>(entry.heap<Hash>().size()) : entry.integer();
        contents.emplace(StrCat(database, " ", entry.key()), value);
      });
    }
  }
  return contents;
}

void SetHash(Keyspace& keyspace, const std::string& key, int fields) {
  Hash& hash = keyspace.SetHeap(key, new Hash(42), kNoDeadline, kNow);
  for (int i = 0; i < fields; ++i) hash.Set(StrCat("field", i), "value", {});
}

TEST_CASE("A walk saves databases as they were, however they are emptied and swapped meanwhile") {
  SeededRandom random;
  INFO("seed " << random.seed());
  const Walked::Form form = AnyForm();
  for (uint64_t round = 0; round < test::Scaled(10); ++round) {
    Walked walked(form);
    for (int i = 0; i < 6000; ++i) {
      walked.engine.database(random.Below(2)).SetInteger(StrCat("key", i), i, kNoDeadline, kNow);
    }
    SetHash(walked.engine.database(0), "hash", 6000);
    SetHash(walked.engine.database(1), "hash", 7000);
    const Contents before = ContentsOf(walked.engine);
    walked.Begin();
    const uint64_t one_in = 1 + random.Below(30);
    do {
      Keyspace& keyspace = walked.engine.database(random.Below(2));
      keyspace.SetInteger(StrCat("key", random.Below(9000)), -1, kNoDeadline, kNow);
      if (const auto entry = keyspace.FindForWrite("hash", kNow); entry && random.OneIn(2)) {
        entry.heap<Hash>().Set(StrCat("field", random.Below(9000)), "changed", {});
      }
      if (random.OneIn(one_in)) walked.engine.Swap(0, 1);
      if (random.OneIn(one_in)) {
        const size_t database = random.Below(2);
        walked.engine.Clear(database);
        SetHash(walked.engine.database(database), "hash", 5000);
      }
    } while (walked.Step());
    Engine loaded(2, 7, walked.zones);
    walked.LoadInto(loaded);
    REQUIRE(ContentsOf(loaded) == before);
    while (!walked.engine.reclaimer().FreeSome(10'000)) {
    }
  }
}

// Counts what a step writes.
class CountingSink final : public RecordSink {
 public:
  size_t max_part_bytes() const override { return size_t{256} << 10; }
  absl::Status Append(RecordPart, std::string_view bytes) override {
    bytes_ += bytes.size();
    return absl::OkStatus();
  }
  size_t BytesSince() { return std::exchange(bytes_, 0); }

 private:
  size_t bytes_ = 0;
};

TEST_CASE("A step of a walk writes little, however large keys, fields and strings are") {
  constexpr size_t kLarge = 3'000'000;
  TzdataZones zones;
  Engine engine(2, 42, zones);
  Keyspace& keyspace = engine.database(0);
  for (int i = 0; i < 50; ++i) {
    keyspace.SetInteger(StrCat(i, std::string(kLarge, 'k')), i, kNoDeadline, kNow);
  }
  keyspace.SetString("string", std::string(10 * kLarge, 's'), kNoDeadline, kNow);
  Hash& hash = keyspace.SetHeap("hash", new Hash(42), kNoDeadline, kNow);
  for (int i = 0; i < 50; ++i) hash.Set(StrCat("field", i), std::string(kLarge, 'v'), {});
  CountingSink sink;
  RecordEmitter emitter(sink);
  emitter.HoldLargeRecords();
  SnapshotWalk walk(engine, emitter, 1);
  size_t written = 0;
  for (bool more = true; more;) {
    const uint64_t saved = walk.keys_saved();
    const auto next = walk.SaveNext();
    REQUIRE(next.ok());
    more = *next;
    const size_t bytes = sink.BytesSince();
    CHECK(bytes <= 2'000'000);
    CHECK(walk.keys_saved() <= saved + 1);
    written += bytes;
  }
  CHECK(written >= 110 * kLarge);
  CHECK(walk.keys_saved() == 52);
}

TEST_CASE("A walk saves keys with long names as they were, whatever happens to them meanwhile") {
  SeededRandom random;
  INFO("seed " << random.seed());
  // Always the same name for the same number; most are long.
  const auto name = [](size_t number) {
    return StrCat("key", number, std::string(number % 4 == 0 ? 0 : 1000 + number * 500, 'k'));
  };
  for (int round = 0; round < 10; ++round) {
    Walked walked;
    const size_t keys = 1 + random.Below(150);
    for (size_t i = 0; i < keys; ++i) {
      walked.engine.database(random.Below(2)).SetInteger(name(i), 1, kNoDeadline, kNow);
    }
    const Contents before = ContentsOf(walked.engine);
    walked.Begin();
    const uint64_t one_in = 20 + random.Below(300);
    do {
      for (size_t i = random.Below(6); i > 0; --i) {
        Keyspace& keyspace = walked.engine.database(random.Below(2));
        const std::string key = name(random.Below(2 * keys));
        const Keyspace::Entry entry = keyspace.FindForWrite(key, kNow);
        if (entry && random.OneIn(2)) {
          keyspace.Erase(entry);
        } else {
          keyspace.SetInteger(key, 2, random.OneIn(2) ? kNoDeadline : kNow + 10'000, kNow);
        }
      }
      if (random.OneIn(one_in)) walked.engine.Swap(0, 1);
      if (random.OneIn(one_in)) {
        const size_t database = random.Below(2);
        walked.engine.Clear(database);
      }
    } while (walked.Step());
    Engine loaded(2, 7, walked.zones);
    walked.LoadInto(loaded);
    const bool same = ContentsOf(loaded) == before;
    REQUIRE(same);
    while (!walked.engine.reclaimer().FreeSome(10'000)) {
    }
  }
}

TEST_CASE("A walk that cannot save before a change returns the error, and saves no more") {
  // Fails once only.
  class Failing final : public RecordSink {
   public:
    size_t max_part_bytes() const override { return kMaxPartBytes; }
    absl::Status Append(RecordPart, std::string_view) override {
      ++calls;
      return std::exchange(fails, false) ? absl::ResourceExhaustedError("full") : absl::OkStatus();
    }
    bool fails = false;
    int calls = 0;
  };
  Walked walked;
  Fill(walked);
  Failing sink;
  RecordEmitter emitter(sink);
  SnapshotWalk walk(walked.engine, emitter, 1);
  REQUIRE(walk.SaveNext().ok());
  sink.fails = true;
  const int calls = sink.calls;
  for (int i = 0; i < 3000; ++i) {
    walked.keyspace().SetInteger(StrCat("key", i), -1, kNoDeadline, kNow);
  }
  Buy(walked, 0, 2);
  CHECK_FALSE(sink.fails);
  CHECK(sink.calls == calls + 1);
  for (int i = 0; i < 2; ++i) CHECK(walk.SaveNext().status().message() == "full");
  CHECK(sink.calls == calls + 1);
}

TEST_CASE("A walk that is given up frees what it has kept of an emptied database") {
  Walked walked;
  Fill(walked);
  walked.Begin();
  REQUIRE(walked.Step());
  walked.engine.Clear(0);
  walked.walk = nullptr;
  REQUIRE(walked.engine.reclaimer().pending() > 0);
  while (!walked.engine.reclaimer().FreeSome(1000)) {
  }
  CHECK(walked.engine.reclaimer().freed() == 1);
}

}  // namespace
}  // namespace tally::server::snapshot_walk_test
