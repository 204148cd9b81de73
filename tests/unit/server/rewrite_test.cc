// The rewrite of the append-only file, a step of which may end in a crash.
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "core/bytes/str_cat.h"
#include "fake_file_system.h"
#include "random_seed.h"
#include "tests/unit/server/durable_server.h"

namespace tally::server {
namespace {

using test::FakeFileSystem;
using test::SeededRandom;

constexpr int64_t kNow = 1'700'000'000'000;

TEST_CASE("A crash at any call of a rewrite loses nothing that was acknowledged") {
  SeededRandom random;
  INFO("seed " << random.seed());
  bool complete = false;
  int crashes = 0;
  while (!complete) {
    INFO(crashes << " calls before the crash");
    FakeFileSystem files;
    int acknowledged = 0;
    {
      DurableServer server(files, {}, kNow);
      while (acknowledged < 20) server.Run(StrCat("RPUSH list ", ++acknowledged));
      server.Run("BGREWRITEAOF");
      REQUIRE(server.rewriting());
      files.FailAfter(static_cast<uint64_t>(crashes), FakeFileSystem::Fault::kCrash);
      while (server.rewriting() && server.TryRun(StrCat("RPUSH list ", acknowledged + 1))) {
        ++acknowledged;
        std::this_thread::yield();
      }
      complete = !files.crashed();
    }
    ++crashes;
    files.Restart(FakeFileSystem::Loss::kDrop, random);
    DurableServer server(files, {}, kNow);
    const std::string length = server.Run("LLEN list");
    const bool one_more = length == StrCat(":", acknowledged + 1);  // logged, but never told
    REQUIRE((length == StrCat(":", acknowledged) || (one_more && !complete)));
    REQUIRE(server.Run(StrCat("LINDEX list ", acknowledged - 1)) ==
            StrCat("\"", acknowledged, "\""));
  }
  REQUIRE(crashes > 10);
}

TEST_CASE("A rewrite goes on while keys change, and its base and log are the whole state") {
  FakeFileSystem files;
  {
    DurableServer server(files, {}, kNow);
    for (int i = 0; i < 3000; ++i) server.Run(StrCat("SET key", i, " old"));
    server.Run("BGREWRITEAOF");
    int changed = 0;
    while (server.rewriting()) server.Run(StrCat("SET key", changed++ % 3000, " new"));
    REQUIRE(server.Run("BGREWRITEAOF").starts_with("+"));
    server.Close();  // gives it up
  }
  DurableServer server(files, {}, kNow);
  REQUIRE(server.Run("DBSIZE") == ":3000");
  REQUIRE(server.Run("GET key0") == "\"new\"");
  REQUIRE(server.Run("BGREWRITEAOF").starts_with("+"));
}

TEST_CASE("A rewrite waits between its slices while a client is served, and not otherwise") {
  FakeFileSystem files;
  DurableServer server(files, {}, kNow);
  for (int i = 0; i < 100'000; ++i) server.harness().Run(StrCat("SET key", i, " value").c_str());
  CHECK(server.persistence().NextSliceInMicros() == std::nullopt);
  server.Run("BGREWRITEAOF");
  bool has_waited = false;
  while (server.rewriting() && !has_waited) {
    server.Run("PING");
    has_waited = server.persistence().NextSliceInMicros().value_or(0) > 0;
  }
  REQUIRE(has_waited);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(server.persistence().NextSliceInMicros() == 0);
  while (server.rewriting()) REQUIRE(server.persistence().FlushTurn().ok());
  CHECK(server.persistence().NextSliceInMicros() == std::nullopt);
}

TEST_CASE("A rewrite begins anew when databases are emptied or swapped, and ends") {
  for (const char* command : {"FLUSHALL", "FLUSHDB", "SWAPDB 0 1"}) {
    INFO(command);
    FakeFileSystem files;
    std::string keys;
    {
      DurableServer server(files, {}, kNow);
      for (int i = 0; i < 5000; ++i) server.Run(StrCat("SET key", i, " old"));
      server.Run("SELECT 1");
      server.Run("SET other 1");
      server.Run("SELECT 0");
      server.harness().Run("BGREWRITEAOF");
      int turns = 0;
      bool changed = false;
      while (server.rewriting()) {
        if (!changed && server.InfoNumber("current_save_keys_processed") > 0) {
          server.harness().Run(command);
          changed = true;
        }
        server.harness().Run(StrCat("SET new", ++turns, " 1").c_str());
        REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
        std::this_thread::yield();
      }
      REQUIRE(changed);
      keys = server.Run("DBSIZE");
      server.Close();
    }
    DurableServer server(files, {}, kNow);
    REQUIRE(server.Run("DBSIZE") == keys);
    REQUIRE(server.Run("EXISTS key1") == ":0");
  }
}

}  // namespace
}  // namespace tally::server
