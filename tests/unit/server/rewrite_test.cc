// The rewrite of the append-only file, a step of which may end in a crash.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/bytes/str_cat.h"
#include "fake_file_system.h"
#include "random_seed.h"
#include "server/durability/data_set_aside.h"
#include "tests/unit/server/durable_server.h"

namespace tally::server::rewrite_test {
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
  while (server.persistence().NextSliceInMicros() != 0) std::this_thread::yield();
  while (server.rewriting()) REQUIRE(server.persistence().FlushTurn().ok());
  CHECK(server.persistence().NextSliceInMicros() == std::nullopt);
}

// Turns until the rewrite has ended.
void EndRewrite(DurableServer& server) {
  while (server.rewriting()) {
    server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).IgnoreError();
    std::this_thread::yield();
  }
}

// Changes each kind of large value.
void ChangeLarge(DurableServer& server, int turn) {
  CommandHarness& harness = server.harness();
  harness.Run("APPEND string tail");
  harness.Run(StrCat("SETRANGE string ", turn * 70'000, " new"));
  harness.Run(StrCat("LSET list ", 100 + turn * 13 % 300, " new"));
  harness.Run(StrCat("HSET hash f", turn % 40, " new"));
}

TEST_CASE(
    "A turn waits for no disk that stands still, whatever is saved and changed in a rewrite") {
  FakeFileSystem files;
  const auto loop = std::this_thread::get_id();
  std::atomic<bool> stands_still = false;
  std::atomic<int> turn = 0;
  std::atomic<bool> waited = false;
  files.OnSync([&] {
    while (stands_still && std::this_thread::get_id() != loop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const std::string large(1'000'000, 'x');
  {
    Config config;
    config.appendfsync = FsyncPolicy::kNo;
    DurableServer server(files, config);
    REQUIRE(server.Start().ok());
    server.harness().Run(StrCat("SET string ", std::string(60'000'000, 's')));
    for (int i = 0; i < 40; ++i) server.harness().Run(StrCat("HSET hash f", i, " ", large));
    for (int i = 0; i < 400; ++i)
      server.harness().Run(StrCat("RPUSH list ", large.substr(0, 99'999)));
    REQUIRE(server.persistence().FlushTurn().ok());
    server.harness().Run("BGREWRITEAOF");
    while (server.InfoNumber("current_save_keys_total") == 0) {
      REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
    }
    stands_still = true;
    std::thread watch([&] {
      int seen = -1;
      while (stands_still && seen != turn) {
        seen = turn;
        std::this_thread::sleep_for(std::chrono::seconds(2));
      }
      waited = stands_still.exchange(false);
    });
    for (; turn < 300; ++turn) {
      ChangeLarge(server, turn);
      REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
    }
    stands_still = false;
    watch.join();
    CHECK_FALSE(waited);
    REQUIRE(server.rewriting());
    EndRewrite(server);
    REQUIRE(server.InfoNumber("aof_rewrite_failures") == 0);
    server.Close();
  }
  DurableServer server(files, {}, kNow);
  CHECK(server.Run("STRLEN string") == StrCat(":", 60'000'000 + 300 * 4));
  CHECK(server.Run("GETRANGE string 69999 70003") == "\"snews\"");
  CHECK(server.Run("HGET hash f7") == "\"new\"");
  CHECK(server.Run("LINDEX list 113") == "\"new\"");
  const bool is_kept = server.Run("LINDEX list 50") == StrCat("\"", large.substr(0, 99'999), "\"");
  CHECK(is_kept);
}

TEST_CASE("A rewrite follows databases that are emptied or swapped") {
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

TEST_CASE("A rewrite ends however often databases are emptied and swapped") {
  FakeFileSystem files;
  {
    DurableServer server(files, {}, kNow);
    for (int i = 0; i < 20'000; ++i) server.harness().Run(StrCat("SET key", i, " old").c_str());
    server.harness().Run("BGREWRITEAOF");
    int turns = 0;
    while (server.rewriting()) {
      server.harness().Run(StrCat("SET new", ++turns, " 1").c_str());
      const bool walking = server.InfoNumber("current_save_keys_total") > 0;
      if (walking)
        server.harness().Run(turns % 3 == 0   ? "SWAPDB 0 1"
                             : turns % 3 == 1 ? "FLUSHDB"
                                              : "FLUSHALL");
      REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
      std::this_thread::yield();
    }
    REQUIRE(server.InfoNumber("aof_rewrite_failures") == 0);
    // The base holds what was there when it began, and the log all that has happened since.
    REQUIRE(server.InfoNumber("aof_base_size") > 20'000 * 10);
    server.Run("SET last 1");
    server.Close();
  }
  DurableServer server(files, {}, kNow);
  REQUIRE(server.Run("EXISTS key1") == ":0");
  REQUIRE(server.Run("EXISTS last") == ":1");
}

std::vector<std::string> Names(FakeFileSystem& files) { return *files.List("appendonlydir"); }

size_t Count(const std::vector<std::string>& names, std::string_view part) {
  return static_cast<size_t>(
      std::count_if(names.begin(), names.end(),
                    [&](const std::string& name) { return name.find(part) != std::string::npos; }));
}

TEST_CASE("A rewrite that fails at any call leaves nothing behind, and the next one succeeds") {
  SeededRandom random;
  INFO("seed " << random.seed());
  int failures = 0;
  for (const auto fault : {FakeFileSystem::Fault::kIoError, FakeFileSystem::Fault::kNoSpace}) {
    for (uint64_t call = 0;; ++call) {
      INFO("call " << call);
      FakeFileSystem files;
      bool reached = false;
      {
        DurableServer server(files, {}, kNow);
        for (int i = 0; i < 20; ++i) server.Run(StrCat("RPUSH list ", i));
        server.harness().Run("BGREWRITEAOF");
        const uint64_t before = files.calls();
        files.FailAfter(call, fault);
        EndRewrite(server);
        reached = files.calls() - before > call;
        files.StopFaults();
        const bool failed = server.InfoNumber("aof_rewrite_failures") > 0;
        failures += failed;
        int64_t steady_ms = 0;
        while (!server.persistence().write_error().ok()) {
          server.harness().state.clock.SetSteady(steady_ms += 1000);
          server.persistence().Cron();
        }
        if (failed) {
          CHECK(Count(Names(files), "temp-") == 0);
          CHECK(Count(Names(files), ".base.tly") == 0);
          CHECK(Count(Names(files), ".incr.aof") <= 2);
        }
        server.Run("RPUSH list between");
        server.Run("BGREWRITEAOF");
        EndRewrite(server);
        REQUIRE(server.InfoNumber("aof_rewrite_failures") == 0);
        CHECK(Count(Names(files), "") == 3);  // manifest, base, log
        server.Run("RPUSH list last");
      }
      files.Restart(FakeFileSystem::Loss::kDrop, random);
      DurableServer server(files, {}, kNow);
      REQUIRE(server.Run("LRANGE list -3 -1") == "[\"19\" \"between\" \"last\"]");
      REQUIRE(server.Run("LLEN list") == ":22");
      if (!reached) break;
    }
  }
  REQUIRE(failures > 10);
}

TEST_CASE("Failed rewrites come after growing pauses, and the files do not become more") {
  FakeFileSystem files;
  Config config;
  config.appendfsync = FsyncPolicy::kAlways;
  config.auto_aof_rewrite_percentage = 100;
  config.auto_aof_rewrite_min_size = 100'000;
  DurableServer server(files, config);
  REQUIRE(server.Start().ok());
  server.Run(StrCat("SET big ", std::string(4'000'000, 'x')));
  files.LeaveRoom(3'000'000);
  std::vector<std::string> after_first;
  std::vector<int64_t> failed_at;
  for (int64_t ms = 0; ms <= 1'800'000; ms += 500) {
    server.harness().state.clock.SetSteady(ms);
    server.persistence().Cron();
    const bool began = server.rewriting();
    EndRewrite(server);
    server.Run(StrCat("SET small ", ms));
    if (!began) continue;
    failed_at.push_back(ms);
    REQUIRE(server.InfoNumber("aof_rewrite_failures") == failed_at.size());
    if (after_first.empty()) after_first = Names(files);
    CHECK(Names(files) == after_first);
  }
  // After 1, 2, 4 … 256 s, and then each 300 s.
  REQUIRE(failed_at.size() > 12);
  CHECK(failed_at[1] - failed_at[0] == 1000);
  CHECK(failed_at[2] - failed_at[1] == 2000);
  CHECK(failed_at[9] - failed_at[8] == 256'000);
  CHECK(failed_at[12] - failed_at[11] == 300'000);
  // Who asks for one gets it at once.
  server.harness().Run("BGREWRITEAOF");
  EndRewrite(server);
  CHECK(server.InfoNumber("aof_rewrite_failures") == failed_at.size() + 1);
  files.LeaveRoom(SIZE_MAX);
  server.Run("BGREWRITEAOF");
  EndRewrite(server);
  CHECK(server.InfoNumber("aof_rewrite_failures") == 0);
  CHECK(Names(files).size() == 3);
  CHECK(server.Run("GET small") == "\"1800000\"");
}

TEST_CASE("A snapshot without a log that fails leaves nothing behind") {
  FakeFileSystem files;
  CommandHarness harness;
  harness.config.appendonly = false;
  AofPersistence persistence(harness.state.services, files);
  REQUIRE(persistence.Open().ok());
  REQUIRE(persistence.LoadSlice(INT64_MAX).ok());
  harness.Run(StrCat("SET big ", std::string(200'000, 'x')).c_str());
  REQUIRE(persistence.SaveNow().ok());
  const std::vector<std::string> names = Names(files);
  files.LeaveRoom(50'000);
  for (int i = 0; i < 5; ++i) REQUIRE_FALSE(persistence.SaveNow().ok());
  CHECK(Names(files) == names);
}

TEST_CASE("A reload that cannot read the files drops nothing") {
  FakeFileSystem files;
  DurableServer server(files, {}, kNow);
  server.Run("SET key value");
  files.LeaveRoom(0);
  REQUIRE_FALSE(server.persistence().Reload().ok());
  CHECK(server.harness().Run("GET key") == "\"value\"");
  files.LeaveRoom(SIZE_MAX);
  server.Reload();
  CHECK(server.harness().Run("GET key") == "\"value\"");
}

TEST_CASE("Data that is set aside is put back whole, in the place of what was loaded instead") {
  FakeFileSystem files;
  DurableServer server(files, {}, kNow);
  server.Run("SET key value");
  server.Run("SET short value PX 1000");
  server.Run("POLICY.SET rule FIXED 5 1m");
  {
    DataSetAside data(server.engine());
    CHECK(server.Run("DBSIZE") == ":0");
    CHECK(server.Run("POLICY.LIST") == "[]");
    server.Run("SET other value");
    data.PutBack();
  }
  CHECK(server.Run("DBSIZE") == ":2");
  CHECK(server.Run("GET key") == "\"value\"");
  CHECK(server.Run("LIMIT.TAKE limit POLICY rule").starts_with("[:1"));
  server.SetClock(kNow + 1000);
  server.harness().ExpireDue();
  CHECK(server.Run("DBSIZE") == ":2");
}

}  // namespace
}  // namespace tally::server::rewrite_test
