#include "server/aof/check_aof.h"

#include <catch2/catch.hpp>

#include "aof_helpers.h"
#include "core/snapshot/record_emitter.h"
#include "fake_file_system.h"
#include "server/aof/base_writer.h"

namespace tally::server::check_aof_test {
namespace {

using test::FakeFileSystem;
using test::kDirectory;
using Verdict = CheckAofResult::Verdict;

const std::string kLog = std::string(kDirectory) + "/appendonly.aof.1.incr.aof";

// A directory with a base of two records and a log of two batches, `tail` after it.
void Fill(FakeFileSystem& files, const std::string& tail) {
  const auto directory = test::OpenDirectory(files);
  REQUIRE(directory->AddLog(0).ok());
  files.Put(kLog,
            test::BuildLog(1, {test::Numbered(1), test::Numbered(2) + test::Numbered(3)}) + tail);
  auto base = directory->CreateBase();
  BaseWriter writer(files, std::move(base->file), {0, 1, 1}, {});
  REQUIRE(RecordEmitter(writer).Append("one").ok());
  REQUIRE(RecordEmitter(writer).Append("two").ok());
  REQUIRE(writer.Finish().ok());
  REQUIRE(writer.WaitSynced().ok());
  REQUIRE(directory->PublishBase(1, 1).ok());
}

bool Says(const CheckAofResult& result, const std::string& text) {
  return result.report.find(text) != std::string::npos;
}

TEST_CASE("A whole set is reported part by part") {
  FakeFileSystem files;
  Fill(files, "");
  for (const char* path : {"/data/appendonlydir", "/data/appendonlydir/appendonly.aof.manifest"}) {
    const CheckAofResult result = CheckAof(files, path, false);
    INFO(result.report);
    CHECK(result.verdict == Verdict::kWhole);
    CHECK(Says(result, "1 blocks, 2 records"));
    CHECK(Says(result, "2 batches, 3 commands"));
  }
}

TEST_CASE("A torn tail is shown, and truncated only on request") {
  FakeFileSystem files;
  Fill(files, "*2\r\n$4\r\nINCR\r\n$9\r\nlost");
  const auto before = files.Contents();
  const CheckAofResult shown = CheckAof(files, kDirectory, false);
  INFO(shown.report);
  CHECK(shown.verdict == Verdict::kTorn);
  CHECK(Says(shown, "torn tail: 22 bytes"));
  CHECK(Says(shown, "lost"));
  CHECK(files.Contents() == before);

  CHECK(CheckAof(files, kDirectory, true).verdict == Verdict::kFixed);
  CHECK(CheckAof(files, kDirectory, false).verdict == Verdict::kWhole);
}

TEST_CASE("Damage is told with its offset, and --fix changes nothing") {
  FakeFileSystem files;
  Fill(files, "*1\r\n");
  std::string log = files.Contents()[kLog];
  log[kLogHeaderBytes + 10] ^= 1;
  files.Put(kLog, log);
  const auto before = files.Contents();
  const CheckAofResult result = CheckAof(files, kDirectory, true);
  INFO(result.report);
  CHECK(result.verdict == Verdict::kDamaged);
  CHECK(Says(result, absl::StrCat("first bad: ", kLog, " offset ", kLogHeaderBytes)));
  CHECK(files.Contents() == before);
}

TEST_CASE("A directory without a manifest, or with a damaged one, is refused") {
  FakeFileSystem files;
  CHECK(CheckAof(files, kDirectory, false).verdict == Verdict::kDamaged);
  files.Put("/data/appendonlydir/appendonly.aof.manifest", "nonsense\n");
  const CheckAofResult result = CheckAof(files, kDirectory, false);
  CHECK(result.verdict == Verdict::kDamaged);
  CHECK(Says(result, "appendonly.aof.manifest line 1"));
}

TEST_CASE("A log that has not begun is no torn tail: it is skipped, as at a start") {
  FakeFileSystem files;
  Fill(files, "");
  {
    const auto directory = test::OpenDirectory(files);
    REQUIRE(directory->AddLog(1).ok());
  }
  const std::string second = std::string(kDirectory) + "/appendonly.aof.2.incr.aof";
  for (const char* content : {"", "#TALLY-LOG 1 00"}) {
    files.Put(second, content);
    const CheckAofResult result = CheckAof(files, kDirectory, true);
    INFO(result.report);
    CHECK(result.verdict == Verdict::kWhole);
    CHECK(Says(result, second + ": log, "));
    CHECK(Says(result, " bytes, has not begun"));
    CHECK(files.Contents()[second] == content);
    CHECK(test::Load(*test::OpenDirectory(files), false).ok());
  }
  files.Put(kLog, files.Contents()[kLog] + "*1\r\n");
  CHECK(CheckAof(files, kDirectory, false).verdict == Verdict::kTorn);
  CHECK_FALSE(test::Load(*test::OpenDirectory(files), false).ok());
  CHECK(CheckAof(files, kDirectory, true).verdict == Verdict::kFixed);
  CHECK(CheckAof(files, kDirectory, false).verdict == Verdict::kWhole);
}

TEST_CASE("Without a base, a first log that continues another is damage, as at a start") {
  FakeFileSystem files;
  REQUIRE(test::OpenDirectory(files)->AddLog(0).ok());
  files.Put(kLog, FormatLogHeader({1, 100, 7, 0}));
  const CheckAofResult result = CheckAof(files, kDirectory, false);
  INFO(result.report);
  CHECK(result.verdict == Verdict::kDamaged);
  CHECK(Says(result, kLog + " continues a log that is not listed"));
  CHECK(absl::IsDataLoss(test::Load(*test::OpenDirectory(files)).status()));

  files.Put(kLog, FormatLogHeader({1, 0, 0, 0}));
  CHECK(CheckAof(files, kDirectory, false).verdict == Verdict::kWhole);
  CHECK(test::Load(*test::OpenDirectory(files)).ok());
}

TEST_CASE("The directory above is searched too") {
  FakeFileSystem files;
  Fill(files, "");
  CHECK(CheckAof(files, "/data", false).verdict == Verdict::kWhole);
  files.Put("/data/other/appendonly.aof.manifest", "");
  const CheckAofResult result = CheckAof(files, "/data", false);
  CHECK(result.verdict == Verdict::kDamaged);
  CHECK(Says(result, "several manifests"));
}

TEST_CASE("A base that is continued within a log is examined from there") {
  FakeFileSystem files;
  LogPosition end;
  const std::string first = test::BuildLog(1, {test::Numbered(1)}, &end);
  {
    const auto directory = test::OpenDirectory(files);
    REQUIRE(directory->AddLog(0).ok());
    auto base = directory->CreateBase();
    BaseWriter writer(files, std::move(base->file), {0, 1, 1, end.offset, end.crc}, {});
    REQUIRE(writer.Finish().ok());
    REQUIRE(writer.WaitSynced().ok());
    REQUIRE(directory->PublishBase(1, 1).ok());
  }
  std::string log = test::BuildLog(1, {test::Numbered(1), test::Numbered(2)});
  log[kLogHeaderBytes + 5] ^= 1;  // of what is void
  files.Put(kLog, log);
  const CheckAofResult result = CheckAof(files, kDirectory, false);
  INFO(result.report);
  CHECK(result.verdict == Verdict::kWhole);
  CHECK(Says(result, "1 batches, 1 commands"));
  const auto loaded = test::Load(*test::OpenDirectory(files));
  REQUIRE(loaded.ok());
  CHECK(loaded->commands == std::vector<std::string>{"INCR key2"});

  files.Put(kLog, first.substr(0, first.size() - 1));
  CHECK(CheckAof(files, kDirectory, false).verdict == Verdict::kDamaged);
  CHECK(absl::IsDataLoss(test::Load(*test::OpenDirectory(files)).status()));
  files.Put(kLog, "");
  CHECK(CheckAof(files, kDirectory, false).verdict == Verdict::kDamaged);
  CHECK(absl::IsDataLoss(test::Load(*test::OpenDirectory(files)).status()));
}

}  // namespace
}  // namespace tally::server::check_aof_test
