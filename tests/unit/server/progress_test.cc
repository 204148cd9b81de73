#include "server/durability/progress.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/server/durable_server.h"

namespace tally::server::progress_test {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int64_t kBegin = 5'000'000;
constexpr int64_t kSecond = 1'000'000;

}  // namespace

TEST_CASE("progress: the percentage is whole, and 100 only at the end") {
  CHECK(Progress::Percent(0, 3) == 0);
  CHECK(Progress::Percent(1, 3) == 33);
  CHECK(Progress::Percent(999, 1000) == 99);
  CHECK(Progress::Percent(3, 3) == 100);
  CHECK(Progress::Percent(4, 3) == 100);
  CHECK(Progress::Percent(0, 0) == 100);
  CHECK(Progress::Percent(UINT64_MAX / 2, UINT64_MAX) == 50);
}

TEST_CASE("progress: the time left follows the speed so far") {
  const Progress progress(kBegin);
  CHECK(progress.SecondsLeft(0, 100, kBegin + 10 * kSecond) == std::nullopt);
  CHECK(progress.SecondsLeft(25, 100, kBegin + 10 * kSecond) == 30);
  CHECK(progress.SecondsLeft(50, 100, kBegin + 40 * kSecond) == 40);
  CHECK(progress.SecondsLeft(100, 100, kBegin + 40 * kSecond) == 0);
  CHECK(progress.SecondsLeft(1, 2, kBegin) == 0);
}

TEST_CASE("progress: the log hears of it every few seconds") {
  Progress progress(kBegin);
  int reports = 0;
  for (int64_t ms = 1; ms <= 10'000; ++ms) reports += progress.ReportDue(kBegin + ms * 1000);
  CHECK(reports == 3);
}

TEST_CASE("progress: INFO follows a rewrite key by key, large values when they are done") {
  test::FakeFileSystem files;
  DurableServer server(files, {}, kNow);
  for (int i = 0; i < 3000; ++i) server.Run("SET key" + std::to_string(i) + " value");
  std::string push = "RPUSH list";
  for (int i = 0; i < 5000; ++i) push += " element" + std::to_string(i);
  server.Run(push);
  CHECK(server.InfoNumber("current_save_keys_total") == 0);
  // From here on each turn is a step: server.Run() would take the rewrite on as long as it may.
  server.harness().Run("BGREWRITEAOF");
  uint64_t last = 0;
  bool between = false;
  while (server.rewriting()) {
    REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
    const uint64_t total = server.InfoNumber("current_save_keys_total");
    const uint64_t keys = server.InfoNumber("current_save_keys_processed");
    if (total == 0) continue;  // not begun, or done
    CHECK(total == 3001);
    CHECK(keys >= last);
    CHECK(server.InfoNumber("current_save_perc") == keys * 100 / total);
    between |= keys > 0 && keys < total;
    last = keys;
    server.harness().Run(("DEL key" + std::to_string(keys)).c_str());
  }
  CHECK(last == 3001);
  CHECK(between);
  CHECK(server.InfoNumber("current_save_keys_processed") == 0);
  CHECK(server.InfoNumber("rdb_last_bgsave_time_sec") == 0);
}

TEST_CASE("progress: of a few large values INFO counts bytes, as the last base had them") {
  test::FakeFileSystem files;
  DurableServer server(files, {}, kNow);
  std::string push = "RPUSH list";
  for (int i = 0; i < 50'000; ++i) push += " element" + std::to_string(i);
  server.Run(push);
  server.Run("SAVE");
  server.harness().Run("BGREWRITEAOF");
  bool between = false;
  while (server.rewriting()) {
    REQUIRE(server.persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok());
    const uint64_t percent = server.InfoNumber("current_save_perc");
    between |=
        percent > 0 && percent < 100 && server.InfoNumber("current_save_keys_processed") == 0;
  }
  CHECK(between);
}

}  // namespace tally::server::progress_test
