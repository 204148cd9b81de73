// The parts of the persistence, each alone.
#include <catch2/catch.hpp>
#include <string>

#include "fake_file_system.h"
#include "server/durability/data_files.h"
#include "server/durability/effect_log.h"
#include "server/durability/log_stream.h"
#include "server/durability/persistence_figures.h"
#include "server/durability/rewrite_pacing.h"
#include "server/durability/save_rules.h"
#include "server/effects/stream_id.h"
#include "server/figures/info.h"
#include "server/resp/resp_command.h"

namespace tally::server::persistence_parts_test {
namespace {

using test::FakeFileSystem;

constexpr int64_t kMs = 1000;
constexpr int64_t kNow = 1'000'000 * kMs;

std::string InfoOf(const PersistenceFigures& figures, const RewriteResults& results) {
  std::string info;
  InfoText text(info);
  ReportFiles(figures, {results, results}, nullptr, text);
  return info;
}

}  // namespace

TEST_CASE("rewrite pacing: long slices without clients, short ones beside them") {
  RewritePacing pacing;
  CHECK(pacing.SliceDue(0, kNow) == 1 * kMs);
  pacing.SliceRan(kNow, kNow + 1 * kMs);
  // Nobody is served: at once again.
  CHECK(pacing.NextSliceIn(kNow + 1 * kMs) == 0);
  CHECK(pacing.SliceDue(0, kNow + 1 * kMs) == 1 * kMs);
  // A turn with a request waits for seven times what the last slice took, one without for once.
  pacing.SliceRan(kNow + 1 * kMs, kNow + 2 * kMs);
  CHECK(pacing.SliceDue(1, kNow + 2 * kMs) == std::nullopt);
  CHECK(pacing.NextSliceIn(kNow + 2 * kMs) == 1 * kMs);
  CHECK(pacing.SliceDue(1, kNow + 3 * kMs - 1) == std::nullopt);
  CHECK(pacing.SliceDue(1, kNow + 3 * kMs) == 250);
  CHECK(pacing.SliceDue(2, kNow + 9 * kMs - 1) == std::nullopt);
  CHECK(pacing.SliceDue(3, kNow + 9 * kMs) == 250);
  // The last request was long ago.
  CHECK(pacing.SliceDue(3, kNow + 14 * kMs) == 1 * kMs);
}

TEST_CASE("save rules: the log is rewritten when it has grown, or is in many files") {
  Config config;
  config.auto_aof_rewrite_percentage = 100;
  config.auto_aof_rewrite_min_size = 1000;
  const SaveRules rules(config);
  RewriteResults results;
  CHECK_FALSE(rules.RewriteIsDue(results, {1, 500, 999}, 0));
  CHECK(rules.RewriteIsDue(results, {1, 500, 1000}, 0));
  CHECK_FALSE(rules.RewriteIsDue(results, {1, 2000, 1999}, 0));
  CHECK(rules.RewriteIsDue(results, {1, 2000, 2000}, 0));
  CHECK_FALSE(rules.RewriteIsDue(results, {64, 2000, 0}, 0));
  CHECK(rules.RewriteIsDue(results, {65, 2000, 0}, 0));
  results.Failed(absl::UnknownError("no"), 7000);
  CHECK_FALSE(rules.RewriteIsDue(results, {65, 2000, 2000}, 7999));
  CHECK(rules.RewriteIsDue(results, {65, 2000, 2000}, 8000));
}

TEST_CASE("save rules: a snapshot that failed is tried again after 5 s where writes are refused") {
  Config config;
  config.save = std::vector<SaveRule>{{1, 1}};
  const SaveRules rules(config);
  RewriteResults results;
  CHECK_FALSE(rules.SnapshotIsDue(results, false, 0, 10'000));
  CHECK(rules.SnapshotIsDue(results, false, 1, 10'000));
  results.Failed(absl::UnknownError("no"), 10'000);
  CHECK_FALSE(rules.SnapshotIsDue(results, false, 1, 14'999));
  CHECK(rules.SnapshotIsDue(results, false, 1, 15'000));
  CHECK(rules.SnapshotIsDue(results, true, 1, 11'000));
  results.Succeeded(2000, 0, 15'000);
  CHECK_FALSE(rules.SnapshotIsDue(results, false, 1, 15'999));
  CHECK(rules.SnapshotIsDue(results, false, 1, 16'000));
}

TEST_CASE("data files: what the base has of a log does not count as grown") {
  FakeFileSystem system;
  const Config config;
  DataFiles files(system, config);
  REQUIRE(files.Open().ok());
  CHECK(files.Exists());
  CHECK(files.BytesSinceBase(100) == 100);
  files.LogFollowed(100);
  CHECK(files.BytesSinceBase(30) == 130);
  files.BaseReplaced(5000, 20);
  CHECK(files.base_bytes() == 5000);
  CHECK(files.BytesSinceBase(30) == 10);
  CHECK(files.BytesSinceBase(10) == 0);
  files.LogEnded();
  CHECK(files.BytesSinceBase(10) == 10);
}

TEST_CASE("effect log: takes effects while it is on, and recovers from a full disk") {
  FakeFileSystem system;
  Config config;
  config.appendfsync = FsyncPolicy::kAlways;
  Clock clock;
  clock.SetSteady(1'000'000);
  EffectStream effects;
  DataFiles files(system, config);
  REQUIRE(files.Open().ok());
  EffectLog log(config, clock, effects, files);
  CHECK_FALSE(log.is_on());
  CHECK(log.Flush().ok());
  REQUIRE(log.Open(LogPosition{}, 0).ok());
  const uint64_t empty = log.writer()->current_size();
  effects.Append(0, {"SET", "a", "1"});
  REQUIRE(log.Flush().ok());
  CHECK(log.writer()->current_size() > empty);
  system.LeaveRoom(0);
  effects.Append(0, {"SET", "a", "2"});
  CHECK_FALSE(log.Flush().ok());
  CHECK_FALSE(log.error().ok());
  const auto never = [] { return absl::UnknownError("the log is not lost"); };
  CHECK_FALSE(log.Recover(never));
  system.LeaveRoom(SIZE_MAX);
  CHECK_FALSE(log.Recover(never));  // within the same second
  clock.SetSteady(1'001'000);
  CHECK(log.Recover(never));
  CHECK(log.error().ok());
  REQUIRE(log.TurnOff().ok());
  CHECK_FALSE(log.is_on());
  CHECK_FALSE(effects.enabled());
}

// As after a start: what the primary sends goes on in the database where the stream was.
TEST_CASE("effect log: says in which database goes on what was received") {
  FakeFileSystem system;
  Config config;
  Clock clock;
  StreamId id;
  id.Adopt(std::string(StreamId::kDigits, 'a'));
  EffectStream effects;
  effects.set_offset(1000);
  DataFiles files(system, config);
  REQUIRE(files.Open().ok());
  EffectLog log(config, clock, effects, files);
  log.set_stream_id(id);
  REQUIRE(log.Open(LogPosition{}, 0).ok());
  const std::string_view words[] = {"DEL", "a"};
  std::string received;
  AppendRespCommand(received, words);
  effects.AppendReceived(received, 2, 2);
  REQUIRE(log.Flush().ok());
  auto stream = LogStream::Open(files.directory(), 1000);
  REQUIRE(stream.ok());
  StreamSource::Part part;
  REQUIRE((*stream)->Next(part).ok());
  CHECK(part.offset == 1000);
  CHECK(part.database == 2);
  CHECK(part.effects == received);
}

TEST_CASE("persistence info: rows of loading and of the log only where there is one") {
  PersistenceFigures figures;
  RewriteResults results;
  CHECK(InfoOf(figures, results).starts_with("loading:0\r\ncurrent_save_keys_processed:0\r\n"));
  CHECK(InfoOf(figures, results).ends_with("aof_last_write_status:ok\r\n"));
  figures.loading = LoadingFigures{5000, {1, 4}, std::nullopt};
  CHECK(InfoOf(figures, results).starts_with("loading:1\r\nloading_start_time:5\r\n"));
  CHECK(InfoOf(figures, results).find("loading_loaded_perc:25\r\n") != std::string::npos);
  results.Failed(absl::UnknownError("no room"), 0);
  CHECK(InfoOf(figures, results).find("aof_last_rewrite_error:no room\r\n") != std::string::npos);
}

TEST_CASE("persistence info: an RDB and a base are told from each other") {
  PersistenceFigures figures;
  RewriteResults saves;
  RewriteResults rewrites;
  saves.Failed(absl::UnknownError("no room"), 0);
  figures.rewriting = true;
  figures.rewriting_seconds = 7;
  const auto info = [&] {
    std::string rows;
    InfoText text(rows);
    ReportFiles(figures, {saves, rewrites}, nullptr, text);
    return rows;
  };
  const auto has = [&](std::string_view row) { return info().find(row) != std::string::npos; };
  figures.kind = Rewriter::Snapshot::kRdb;
  CHECK(has("rdb_bgsave_in_progress:1\r\n"));
  CHECK(has("rdb_current_bgsave_time_sec:7\r\n"));
  CHECK(has("aof_rewrite_in_progress:0\r\n"));
  CHECK(has("rdb_last_bgsave_status:err\r\n"));
  CHECK(has("aof_last_bgrewrite_status:ok\r\n"));
  figures.kind = Rewriter::Snapshot::kBase;
  CHECK(has("rdb_bgsave_in_progress:0\r\n"));
  CHECK(has("aof_rewrite_in_progress:1\r\n"));
  CHECK(has("aof_current_rewrite_time_sec:7\r\n"));
}

}  // namespace tally::server::persistence_parts_test
