// RDBs that are written while the server serves: what they hold, when they are in place, and what a
// crash or a full disk leaves of them.
#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "core/bytes/str_cat.h"
#include "fake_file_system.h"
#include "random_seed.h"
#include "server/rdb/engine_sink.h"
#include "server/rdb/rdb_reader.h"
#include "tests/unit/server/durable_server.h"

namespace tally::server::rdb_save_test {
namespace {

using test::FakeFileSystem;
using test::SeededRandom;

constexpr int64_t kNow = 1'700'000'000'000;

Config Redis() {
  Config config;
  config.rdb_format = RdbFormat::kRedis;
  return config;
}

// The string that the RDB has under `key`; "damaged" if it is no whole RDB, empty if there is none.
std::string Saved(FakeFileSystem& files, const std::string& path, std::string_view key) {
  const auto contents = files.Contents();
  const auto found = contents.find(path);
  if (found == contents.end()) return {};
  UtcOnly zones;
  Engine engine(16, 7, zones);
  const ValueLimits limits;
  rdb::SkippedValues skipped;
  rdb::EngineSink sink(engine, limits, skipped, {});
  rdb::TextSource source(found->second);
  rdb::RdbReader reader(source, sink);
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = reader.Next();
  if (!more.ok() || !reader.AtEnd()) return "damaged";
  const Keyspace::Entry entry = engine.database(0).Peek(key);
  if (!entry) return "no key";
  return entry.is_integer() ? StrCat(entry.integer()) : std::string(entry.bytes());
}

TEST_CASE("rdb save: a crash or a failing call leaves the old RDB or the new one") {
  using Fault = FakeFileSystem::Fault;
  SeededRandom random;
  INFO("seed " << random.seed());
  for (const Fault fault : {Fault::kCrash, Fault::kNoSpace}) {
    uint64_t calls = 0;
    for (bool complete = false; !complete; ++calls) {
      INFO(calls << " calls before");
      FakeFileSystem files;
      bool acknowledged = false;
      {
        DurableServer server(files, Redis(), kNow);
        server.Run("SET k 1");
        REQUIRE(server.Run("SAVE") == "+OK");
        server.Run("SET k 2");
        files.FailAfter(calls, fault);
        acknowledged = server.harness().Run("SAVE") == "+OK";
        complete = acknowledged;
      }
      files.Restart(FakeFileSystem::Loss::kDrop, random);
      const std::string saved = Saved(files, "dump.rdb", "k");
      CHECK((saved == "2" || (!acknowledged && saved == "1")));
      REQUIRE(calls < 100);
    }
    CHECK(calls > 3);
  }
}

TEST_CASE("rdb save: a request has the state of its begin, and comes after what is being written") {
  FakeFileSystem files;
  DurableServer server(files, {}, kNow);
  server.Run("SET k 1");
  server.Run("BGREWRITEAOF");
  REQUIRE(server.rewriting());
  std::string events;
  absl::Status status = absl::UnknownError("not yet");
  REQUIRE(server.persistence()
              .WriteRdb({.path = "sync.rdb",
                         .begun = [&] { events += "begun "; },
                         .done =
                             [&](const absl::Status& end) {
                               events += "done";
                               status = end;
                             },
                         .then = {}})
              .ok());
  for (int turn = 0; turn < 100'000 && events != "begun done"; ++turn) {
    REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
    if (events == "begun ") server.harness().Run("SET k 2");
    std::this_thread::yield();
  }
  CHECK(events == "begun done");
  CHECK(status.ok());
  CHECK(server.Run("GET k") == "\"2\"");
  CHECK(Saved(files, "sync.rdb", "k") == "1");
  CHECK(Saved(files, "dump.rdb", "k").empty());
}

TEST_CASE("rdb save: a request that is cancelled is told so") {
  FakeFileSystem files;
  DurableServer server(files, {}, kNow);
  server.Run("SET k 1");
  absl::Status status;
  REQUIRE(server.persistence()
              .WriteRdb({.path = "sync.rdb",
                         .begun = {},
                         .done = [&](const absl::Status& end) { status = end; },
                         .then = {}})
              .ok());
  REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
  server.Close();
  CHECK(absl::IsCancelled(status));
  CHECK(files.Contents().count("sync.rdb") == 0);
  CHECK(files.Contents().count("sync.rdb.temp") == 0);
}

}  // namespace
}  // namespace tally::server::rdb_save_test
