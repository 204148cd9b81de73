#include "server/aof/backup.h"

#include <catch2/catch.hpp>

#include "aof_helpers.h"
#include "core/snapshot/record_emitter.h"
#include "fake_file_system.h"
#include "server/aof/base_writer.h"
#include "server/aof/find_manifest.h"
#include "server/aof/log_format.h"

namespace tally::server::backup_test {
namespace {

using test::FakeFileSystem;
using test::kDirectory;

const std::string kLog = std::string(kDirectory) + "/appendonly.aof.1.incr.aof";
const std::string kCopy = "/backup/appendonlydir";

void WriteBase(FakeFileSystem& files, AofDirectory& directory, uint64_t first_log) {
  auto base = directory.CreateBase();
  REQUIRE(base.ok());
  BaseWriter writer(files, std::move(base->file), {0, base->sequence, first_log}, {});
  REQUIRE(RecordEmitter(writer).Append("one").ok());
  REQUIRE(writer.Finish().ok());
  REQUIRE(writer.WaitSynced().ok());
  REQUIRE(directory.PublishBase(base->sequence, first_log).ok());
}

// A log of two batches, and `tail` after it.
std::unique_ptr<AofDirectory> Fill(FakeFileSystem& files, const std::string& tail) {
  auto directory = test::OpenDirectory(files);
  REQUIRE(directory->AddLog(0).ok());
  files.Put(kLog, test::BuildLog(1, {test::Numbered(1), test::Numbered(2)}) + tail);
  return directory;
}

std::vector<std::string> CommandsOf(FakeFileSystem& files, const std::string& directory) {
  auto opened = AofDirectory::OpenForInspection(files, directory, test::kBaseName);
  INFO(opened.status().ToString());
  REQUIRE(opened.ok());
  const auto loaded = test::Load(**opened);
  INFO(loaded.status().ToString());
  REQUIRE(loaded.ok());
  return loaded->commands;
}

TEST_CASE("A backup is what a server starts from, without a batch that is half there") {
  FakeFileSystem files;
  Fill(files, "*2\r\n$4\r\nINCR\r\n$9\r\nhal");
  const auto report = Backup(files, "/data", "/backup");
  INFO(report.status().ToString());
  REQUIRE(report.ok());
  CHECK(report->find("torn tail was truncated") != std::string::npos);
  CHECK(CommandsOf(files, kCopy) == std::vector<std::string>{"INCR key1", "INCR key2"});
  CHECK(CommandsOf(files, kDirectory) == CommandsOf(files, kCopy));
}

TEST_CASE("A backup that a rewrite overtakes is of the files that were there before") {
  FakeFileSystem files;
  const auto directory = Fill(files, "");
  bool rewritten = false;
  files.OnAppend([&] {
    if (std::exchange(rewritten, true)) return;
    auto next = directory->AddLog(1);
    REQUIRE(next.ok());
    LogPosition end;
    test::BuildLog(1, {test::Numbered(1), test::Numbered(2)}, &end);
    LogHeader header{.sequence = 2, .previous_offset = end.offset, .previous_crc = end.crc};
    files.Put(std::string(kDirectory) + "/appendonly.aof.2.incr.aof", FormatLogHeader(header));
    WriteBase(files, *directory, 2);
    REQUIRE(directory->RemoveObsolete().ok());
  });
  const auto report = Backup(files, "/data", "/backup");
  INFO(report.status().ToString());
  REQUIRE(report.ok());
  CHECK(rewritten);
  CHECK(files.Contents().count(kLog) == 0);
  CHECK(CommandsOf(files, kCopy) == std::vector<std::string>{"INCR key1", "INCR key2"});
}

TEST_CASE("A backup goes into an empty directory only") {
  FakeFileSystem files;
  Fill(files, "");
  files.Put("/backup/notes", "mine");
  CHECK(Backup(files, "/data", "/backup").status().code() == absl::StatusCode::kAlreadyExists);
  CHECK(files.Contents().at("/backup/notes") == "mine");
  CHECK(Backup(files, "/nothing", "/other").status().code() == absl::StatusCode::kNotFound);
}

TEST_CASE("A backup of damaged files is refused, and nothing of it is left") {
  FakeFileSystem files;
  Fill(files, "");
  std::string log = files.Contents().at(kLog);
  log[log.size() / 2] ^= 1;
  files.Put(kLog, log);
  CHECK(Backup(files, "/data", "/backup").status().code() == absl::StatusCode::kDataLoss);
  CHECK(files.List("/backup")->empty());
}

TEST_CASE("A backup that is killed at any call is unfinished by its name, and nobody's data") {
  test::SeededRandom random(1);
  for (uint64_t call = 0;; ++call) {
    FakeFileSystem files;
    Fill(files, "");
    files.FailAfter(call, FakeFileSystem::Fault::kCrash);
    const auto report = Backup(files, "/data", "/backup");
    if (!files.crashed()) {
      CHECK(report.ok());
      CHECK(call > 8);
      break;
    }
    INFO(call);
    CHECK(!report.ok());
    files.Restart(FakeFileSystem::Loss::kProcessOnly, random);
    const auto left = *files.List("/backup");
    if (left == std::vector<std::string>{"appendonlydir"}) {
      CHECK(CommandsOf(files, kCopy) == std::vector<std::string>{"INCR key1", "INCR key2"});
    } else if (!left.empty()) {
      CHECK(left == std::vector<std::string>{"appendonlydir.unfinished"});
      CHECK(absl::IsNotFound(FindManifest(files, "/backup").status()));
      CHECK(absl::IsAlreadyExists(Backup(files, "/data", "/backup").status()));
    }
  }
}

TEST_CASE("A backup that fails at any call is an error, and nothing of it is left") {
  for (const auto fault : {FakeFileSystem::Fault::kNoSpace, FakeFileSystem::Fault::kTornWrite}) {
    for (uint64_t call = 0;; ++call) {
      FakeFileSystem files;
      Fill(files, "");
      const uint64_t before = files.calls();
      files.FailAfter(call, fault);
      const auto report = Backup(files, "/data", "/backup");
      if (files.calls() - before <= call) {
        CHECK(report.ok());
        CHECK(call > 8);
        break;
      }
      INFO(call);
      CHECK(!report.ok());
      CHECK(files.List("/backup")->empty());
    }
  }
}

}  // namespace
}  // namespace tally::server::backup_test
