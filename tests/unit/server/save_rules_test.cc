// Snapshots in place of the log: when they are due, and what they hold.
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "fake_file_system.h"
#include "tests/unit/server/durable_server.h"

namespace tally::server::save_rules_test {
namespace {

using test::FakeFileSystem;

// A server without a log, whose steady clock is at 0.
class SavingServer {
 public:
  SavingServer(FakeFileSystem& files, std::vector<SaveRule> rules) : server_(files, {}) {
    server_.harness().config.appendonly = false;
    server_.harness().config.save = std::move(rules);
    At(0);
    REQUIRE(server_.Start().ok());
  }

  void At(int64_t steady_ms) { server_.harness().state.clock.SetSteady(steady_ms); }
  // Whether a snapshot is begun by the cron of now.
  bool Begins() {
    server_.persistence().Cron();
    return server_.rewriting();
  }
  void Finish() {
    while (server_.rewriting()) {
      REQUIRE(server_.persistence().FlushTurn().ok());
      std::this_thread::yield();
    }
  }
  std::string Run(const std::string& line) { return server_.Run(line); }
  uint64_t Info(const std::string& name) { return server_.InfoNumber(name); }
  AofPersistence& persistence() { return server_.persistence(); }

 private:
  DurableServer server_;
};

TEST_CASE("save: due when both numbers of a rule are reached, and not before") {
  FakeFileSystem files;
  SavingServer server(files, {{60, 3}, {10, 5}});
  server.Run("MSET a 1 b 2");
  server.At(1'000'000);
  CHECK_FALSE(server.Begins());
  server.Run("SET c 3");
  server.At(59'999);
  CHECK_FALSE(server.Begins());
  server.At(60'000);
  CHECK(server.Begins());
  server.Finish();
  CHECK(server.Info("rdb_saves") == 1);
  CHECK(server.Info("rdb_changes_since_last_save") == 0);
  server.Run("MSET a 1 b 2 c 3 d 4 e 5");
  server.At(69'999);
  CHECK_FALSE(server.Begins());
  server.At(70'000);
  CHECK(server.Begins());
  server.Finish();

  SavingServer again(files, {});
  CHECK(again.Run("MGET a e") == R"(["1" "5"])");
  again.Run("SET a 2");
  again.At(INT64_MAX / 2);
  CHECK_FALSE(again.Begins());
}

TEST_CASE("save: what changes while a snapshot is written counts for the next") {
  FakeFileSystem files;
  {
    SavingServer server(files, {{1, 1}});
    for (int i = 0; i < 3000; ++i) server.Run(StrCat("SET key", i, " old"));
    server.At(1000);
    REQUIRE(server.Begins());
    while (server.Info("current_save_keys_total") == 0) {
      REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
      std::this_thread::yield();
    }
    server.Run("SET key7 new");
    server.Finish();
    CHECK(server.Info("rdb_changes_since_last_save") == 1);
    server.Run("BGSAVE");
    server.Run("SET key8 new");
    REQUIRE(server.persistence().SaveAtEnd().ok());
    CHECK(server.Info("rdb_changes_since_last_save") == 0);
  }
  SavingServer again(files, {});
  CHECK(again.Run("MGET key6 key7 key8") == R"(["old" "new" "new"])");
}

TEST_CASE("save: one that failed refuses writes, and is tried again after a while") {
  FakeFileSystem files;
  SavingServer server(files, {{1, 1}});
  server.Run("SET a 1");
  files.FailAfter(0, FakeFileSystem::Fault::kNoSpace, 1'000'000);
  server.At(1000);
  server.Begins();
  server.Finish();
  CHECK_FALSE(server.persistence().accepts_writes());
  CHECK(server.Run("SET a 2").starts_with("-MISCONF Redis is configured to save RDB snapshots"));
  CHECK_FALSE(server.persistence().SaveAtEnd().ok());
  files.StopFaults();
  server.At(1001);
  CHECK_FALSE(server.Begins());
  server.At(301'000);
  CHECK(server.Begins());
  server.Finish();
  CHECK(server.persistence().accepts_writes());
  CHECK(server.Run("SET a 2") == "+OK");
}

TEST_CASE("save: at the end only without a log, and only if there is a rule") {
  FakeFileSystem files;
  SavingServer without(files, {});
  without.Run("SET a 1");
  REQUIRE(without.persistence().SaveAtEnd().ok());
  CHECK(without.Info("rdb_saves") == 0);
  FakeFileSystem others;
  Config config;
  config.save = std::vector<SaveRule>{{60, 1}};
  DurableServer with(others, config);
  REQUIRE(with.Start().ok());
  with.Run("SET a 1");
  REQUIRE(with.persistence().SaveAtEnd().ok());
  CHECK(with.InfoNumber("rdb_saves") == 0);
}

}  // namespace
}  // namespace tally::server::save_rules_test
