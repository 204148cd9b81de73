#include "core/snapshot/record_emitter.h"

#include <catch2/catch.hpp>
#include <string>

#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "core/hash/hash.h"
#include "core/snapshot/snapshot_walk.h"
#include "kept_records.h"

namespace tally::record_emitter_test {
namespace {

using test::KeptRecords;

constexpr int64_t kNow = 1'795'230'400'000;

struct TestEngine {
  UtcOnly zones;
  Engine engine{2, 42, zones};
};

void Load(const KeptRecords& kept, Engine& engine) {
  for (const std::string& record : kept.records) REQUIRE(DecodeRecord(record, engine).ok());
}

}  // namespace

TEST_CASE("record emitter: a record is whole up to the sink's bound, and in pieces beyond it") {
  for (const size_t bound : {size_t{1}, size_t{10}, size_t{100'000}}) {
    for (const size_t size : {bound - 1, bound, bound + 1, 2 * bound, 2 * bound + 1}) {
      if (size == 0) continue;
      KeptRecords kept(bound);
      RecordEmitter emitter(kept);
      REQUIRE(emitter.Append(std::string(size, 'r')).ok());
      REQUIRE(kept.records == std::vector<std::string>{std::string(size, 'r')});
      CHECK(kept.parts == (size + bound - 1) / bound);
    }
  }
}

TEST_CASE("record emitter: no key, value, element or policy is too long for a sink") {
  TestEngine saved;
  const std::string long_key(5000, 'k');
  const std::string long_text(300'000, 't');
  Keyspace& keyspace = saved.engine.database(1);
  keyspace.SetString("text", long_text, kNow + 7, kNow);
  keyspace.SetInteger(long_key, -5, kNoDeadline, kNow);
  Hash& hash = keyspace.SetHeap("hash", new Hash(42), kNoDeadline, kNow);
  for (int i = 0; i < 3000; ++i) hash.Set(StrCat("field", i), "value", {});
  hash.Set("long", long_text, {});
  saved.engine.policies().Set("login", {"FIXED", "3", "60s"});

  KeptRecords kept(100);
  RecordEmitter emitter(kept, 1000);
  REQUIRE(emitter.Policies(saved.engine.policies()).ok());
  REQUIRE(emitter.Database(1, keyspace).ok());
  uint64_t position = 0;
  while (const Keyspace::Segment* segment = keyspace.NextSegment(position)) {
    keyspace.ForEach(*segment,
                     [&](const Keyspace::Entry& entry) { REQUIRE(emitter.Entry(1, entry).ok()); });
  }
  TestEngine loaded;
  Load(kept, loaded.engine);
  CHECK(loaded.engine.policies().size() == 1);
  CHECK(loaded.engine.database(1).Peek("text").bytes() == long_text);
  CHECK(loaded.engine.database(1).Peek("text").deadline_ms() == kNow + 7);
  CHECK(loaded.engine.database(1).Peek(long_key).integer() == -5);
  CHECK(loaded.engine.database(1).Peek("hash").heap<Hash>().size() == 3001);
}

TEST_CASE("record emitter: a walk writes to any sink, and keeps its bound") {
  TestEngine saved;
  Keyspace& keyspace = saved.engine.database(0);
  for (int i = 0; i < 1000; ++i) keyspace.SetInteger(StrCat("key", i), i, kNoDeadline, kNow);
  keyspace.SetString("text", std::string(300'000, 't'), kNoDeadline, kNow);
  Hash& hash = keyspace.SetHeap("hash", new Hash(42), kNoDeadline, kNow);
  for (int i = 0; i < 20'000; ++i) hash.Set(StrCat("field", i), "value", {});
  KeptRecords kept(1000);
  {
    RecordEmitter emitter(kept);
    SnapshotWalk walk(saved.engine, emitter, 1);
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) more = walk.SaveNext();
    REQUIRE(more.ok());
    CHECK(walk.keys_saved() == 1002);
  }
  TestEngine loaded;
  Load(kept, loaded.engine);
  CHECK(loaded.engine.database(0).size() == 1002);
  CHECK(loaded.engine.database(0).Peek("hash").heap<Hash>().size() == 20'000);
}

TEST_CASE("record emitter: the sink's error is returned, and nothing more is written") {
  class Full : public RecordSink {
   public:
    size_t max_part_bytes() const override { return 10; }
    absl::Status Append(RecordPart, std::string_view) override {
      ++calls;
      return absl::ResourceExhaustedError("full");
    }
    int calls = 0;
  };
  Full full;
  RecordEmitter emitter(full);
  CHECK_FALSE(emitter.Append(std::string(35, 'r')).ok());
  CHECK(full.calls == 1);
}

}  // namespace tally::record_emitter_test
