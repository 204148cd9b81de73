#include "core/snapshot/record_codec.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "core/snapshot/record_emitter.h"
#include "kept_records.h"
#include "random_seed.h"
#include "server/command_harness.h"

namespace tally::server::record_codec_test {
namespace {

// All that an engine holds, as records.
std::vector<std::string> RecordsOf(const Engine& engine) {
  test::KeptRecords kept;
  RecordEmitter emitter(kept, 100);
  REQUIRE(emitter.Policies(engine.policies()).ok());
  for (size_t database = 0; database < engine.databases(); ++database) {
    const Keyspace& keyspace = engine.database(database);
    uint64_t position = 0;
    while (const Keyspace::Segment* segment = keyspace.NextSegment(position)) {
      keyspace.ForEach(*segment, [&](const Keyspace::Entry& entry) {
        REQUIRE(emitter.Entry(database, entry).ok());
      });
    }
  }
  return kept.records;
}

}  // namespace

TEST_CASE("native values and policies come back from their records, small and large") {
  CommandHarness h;
  h.Run("POLICY.SET p FIXED 3 60s");
  for (int i = 0; i < 300; ++i) {
    h.Run("HITS.ADD large 1d");
    h.Run("LIMIT.TAKE logs SLIDING 1000 1d SLIDING 1000 2d FIXED 1000 1d");
    h.Run(StrCat("ACTIVE.TOUCH users id", i));
    h.Advance(1'000);
  }
  h.Run("HITS.ADD small 1d");
  h.Run("LIMIT.TAKE small-limit POLICY p BUCKET 5 1 60s");
  h.Run("SELECT 3");
  h.Run("LIMIT.TAKE other FIXED 7 1d");
  h.Run("SELECT 0");

  CommandHarness copy;
  copy.state.clock.Set(h.now());
  size_t runs = 0;
  for (const std::string& record : RecordsOf(h.engine)) {
    REQUIRE(DecodeRecord(record, copy.engine).ok());
    ++runs;
  }
  CHECK(runs > 15);  // large values take several
  for (const std::string_view question : {"DBSIZE",
                                          "POLICY.GET p",
                                          "HITS.COUNT large",
                                          "HITS.COUNT large WINDOW 99s",
                                          "LIMIT.PEEK logs SLIDING 1000 1d",
                                          "LIMIT.PEEK logs SLIDING 301 2d",
                                          "LIMIT.PEEK logs FIXED 1000 1d",
                                          "PTTL logs",
                                          "PTTL large",
                                          "HITS.COUNT small",
                                          "LIMIT.PEEK small-limit POLICY p COST 3",
                                          "LIMIT.PEEK small-limit BUCKET 5 1 60s",
                                          "ACTIVE.ONLINE users",
                                          "ACTIVE.SEEN users id7",
                                          "ACTIVE.DAY users DAYS 3",
                                          "ACTIVE.SCAN users 0 COUNT 1000",
                                          "OBJECT ENCODING small",
                                          "OBJECT ENCODING logs",
                                          "SELECT 3",
                                          "LIMIT.PEEK other FIXED 7 1d COST 0"}) {
    INFO(question);
    CHECK(copy.Run(question) == h.Run(question));
  }
}

TEST_CASE("hashes come back from their records, small and large") {
  CommandHarness h;
  h.Run("HSET small n 1 hex 00f1e2d3c4b5a69788796a5b4c3d2e1f text t");
  h.Run("PEXPIRE small 5000");
  h.Run("CONFIG SET hash-max-listpack-value 4");
  h.Run("HSET beyond f longer");
  for (int i = 0; i < 300; ++i) h.Run(StrCat("HSET large f", i, " ", i));

  CommandHarness copy;
  copy.state.clock.Set(h.now());
  for (const std::string& record : RecordsOf(h.engine)) {
    REQUIRE(DecodeRecord(record, copy.engine).ok());
  }
  for (const std::string_view question :
       {"DBSIZE", "HGETALL small", "PTTL small", "OBJECT ENCODING small", "HGETALL beyond",
        "OBJECT ENCODING beyond", "HLEN large", "HGET large f299"}) {
    INFO(question);
    CHECK(copy.Run(question) == h.Run(question));
  }
}

TEST_CASE("values and keys come back from their records on both sides of each bound") {
  // A run, a part, 16 MiB; and the largest that anybody is expected to send.
  for (const size_t bound :
       {size_t{1} << 16, size_t{1} << 20, size_t{16} << 20, size_t{64} << 20}) {
    for (const size_t size : {bound - 1, bound + 1}) {
      INFO(size << " bytes");
      const std::string text(size, 'x');
      CommandHarness h;
      const auto write = [&](const CommandHarness::Words& words) {
        REQUIRE_FALSE(h.Run(words).starts_with("-"));
      };
      write({"SET", "string", text});
      write({"SET", text, "1"});
      if (bound <= size_t{16} << 20) {
        write({"HSET", "hash", "f", text, text, "v"});
        write({"RPUSH", "list", "1", text, "2"});
        write({"SADD", "set", text, "a"});
        write({"ZADD", "zset", "1", text, "2", "a"});
      }
      CommandHarness copy;
      for (const std::string& record : RecordsOf(h.engine)) {
        REQUIRE(DecodeRecord(record, copy.engine).ok());
      }
      const auto same = [&](const CommandHarness::Words& words) {
        INFO(words[0]);
        const bool is_same = copy.Run(words) == h.Run(words);
        CHECK(is_same);
      };
      same({"DBSIZE"});
      same({"GET", "string"});
      same({"GET", text});
      same({"HMGET", "hash", "f", text, "none"});
      same({"LRANGE", "list", "0", "-1"});
      same({"SMISMEMBER", "set", text, "a", "none"});
      same({"SCARD", "set"});
      same({"ZRANGE", "zset", "0", "-1", "WITHSCORES"});
    }
  }
}

TEST_CASE("a packed value that no command can have left is refused") {
  CommandHarness h;
  h.Run("HSET h f 7 g 00f1e2d3c4b5a697");
  h.Run("LIMIT.TAKE l FIXED 3 60s");
  std::vector<std::string> records = RecordsOf(h.engine);
  REQUIRE(records.size() == 2);
  size_t refused = 0;
  CommandHarness other;
  for (std::string& record : records) {
    for (char& byte : record) {
      for (int flipped = 1; flipped < 256; ++flipped) {
        byte = static_cast<char>(byte ^ flipped);
        other.Run("FLUSHALL");
        refused += DecodeRecord(record, other.engine).ok() ? 0 : 1;
        // Whatever was accepted can be used.
        other.Run("HGETALL h");
        other.Run("HSET h f 8");
        other.Run("LIMIT.PEEK l FIXED 3 60s");
        byte = static_cast<char>(byte ^ flipped);
      }
    }
  }
  CHECK(refused > 1000);
  h.Run("SADD s a");
  std::string record = records[0];
  record[record.find("h", 1) + 1] = static_cast<char>(Type::kZSet);
  CHECK(DecodeRecord(record, h.engine).code() == absl::StatusCode::kDataLoss);
}

TEST_CASE("a number of keys is a hint, whatever it is; a damaged one is refused") {
  CommandHarness h;
  h.Run("SET key value");
  const std::vector<std::string> held = RecordsOf(h.engine);
  for (const uint64_t keys : {uint64_t{0}, uint64_t{1}, uint64_t{100'000}}) {
    std::string record;
    EncodeKeyCount(2, keys, record);
    CommandHarness copy;
    REQUIRE(DecodeRecord(record, copy.engine).ok());
    for (const std::string& each : held) REQUIRE(DecodeRecord(each, copy.engine).ok());
    CHECK(RecordsOf(copy.engine) == held);
    REQUIRE(DecodeRecord(record + "x", copy.engine).code() == absl::StatusCode::kDataLoss);
    record.pop_back();
    CHECK(DecodeRecord(record, copy.engine).code() == absl::StatusCode::kDataLoss);
  }
  std::string record;
  EncodeKeyCount(h.engine.databases(), 1, record);
  CHECK(DecodeRecord(record, h.engine).code() == absl::StatusCode::kFailedPrecondition);
}

TEST_CASE("a damaged policy record is refused") {
  CommandHarness h;
  std::string record;
  EncodePolicy("p", {"FIXED", "3", "60s"}, record);
  record.pop_back();
  CHECK(DecodeRecord(record, h.engine).code() == absl::StatusCode::kDataLoss);
}

TEST_CASE("to prefetch for any bytes is harmless, and changes nothing") {
  test::SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  CommandHarness h;
  for (int i = 0; i < 1000; ++i) h.Run(StrCat("SET key", i, " value"));
  const std::vector<std::string> held = RecordsOf(h.engine);
  std::vector<std::string> bytes(300);
  for (std::string& record : bytes) {
    if (random.OneIn(2)) record = held[random.Below(held.size())];
    for (uint64_t left = random.Below(8); left > 0; --left) {
      record.insert(record.begin() + static_cast<ptrdiff_t>(random.Below(record.size() + 1)),
                    static_cast<char>(random.Next()));
    }
  }
  PrefetchForRecords(std::vector<std::string_view>(bytes.begin(), bytes.end()), h.engine);
  CHECK(RecordsOf(h.engine) == held);
}

}  // namespace tally::server::record_codec_test
