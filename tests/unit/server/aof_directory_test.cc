#include "server/aof/aof_directory.h"

#include <catch2/catch.hpp>

#include "aof_helpers.h"
#include "fake_file_system.h"
#include "server/aof/base_writer.h"
#include "server/aof/log_writer.h"

namespace tally::server::aof_directory_test {
namespace {

using test::FakeFileSystem;
using test::kBaseName;
using test::kDirectory;
using test::OpenDirectory;

std::string At(const std::string& name) { return absl::StrCat(kDirectory, "/", name); }

absl::Status OpenStatus(FakeFileSystem& files) {
  return AofDirectory::Open(files, kDirectory, kBaseName).status();
}

TEST_CASE("A rewrite replaces base and logs in Redis's names") {
  FakeFileSystem files;
  const auto directory = OpenDirectory(files);
  CHECK(directory->manifest() == Manifest());
  REQUIRE(directory->AddLog(0).ok());
  REQUIRE(directory->AddLog(1).ok());
  auto base = directory->CreateBase();
  REQUIRE(base.ok());
  CHECK(files.Contents().contains(At("temp-appendonly.aof.1.base.tly")));
  CHECK(directory->RemoveObsolete().ok());
  CHECK(files.Contents().contains(At("temp-appendonly.aof.1.base.tly")));
  CHECK(directory->PublishBase(1, 2).ok());
  CHECK(directory->RemoveObsolete().ok());
  const Manifest expected{ManifestEntry{"appendonly.aof.1.base.tly", 1},
                          {{"appendonly.aof.2.incr.aof", 2}}};
  CHECK(directory->manifest() == expected);
  CHECK(files.Contents().size() == 3);
  CHECK(files.Contents()[At("appendonly.aof.manifest")] == expected.Format());
  CHECK(OpenDirectory(files)->manifest() == expected);
}

TEST_CASE("Leftovers are removed at the start, and nothing else") {
  FakeFileSystem files;
  OpenDirectory(files)->AddLog(0).status().IgnoreError();
  for (const char* name : {"temp-appendonly.aof.manifest", "temp-appendonly.aof.7.base.tly",
                           "appendonly.aof.7.base.tly", "appendonly.aof.9.incr.aof"}) {
    files.Put(At(name), "left");
  }
  const std::vector<std::string> kept = {"notes.txt", "other.aof.1.incr.aof",
                                         "appendonly.aof.x.incr.aof", "appendonly.aof.1.incr.aof",
                                         "appendonly.aof.manifest.bak"};
  for (const std::string& name : kept) files.Put(At(name), "");
  CHECK(OpenStatus(files).ok());
  CHECK(files.Contents().size() == kept.size() + 1);
  for (const std::string& name : kept) CHECK(files.Contents().contains(At(name)));
}

TEST_CASE("Data without a manifest, and a damaged manifest, stop the start") {
  FakeFileSystem files;
  files.Put(At("appendonly.aof.1.incr.aof"), "");
  CHECK(OpenStatus(files).ok());
  files.Put(At("appendonly.aof.1.incr.aof"), test::BuildLog(1, {test::Numbered(1)}));
  CHECK(absl::IsFailedPrecondition(OpenStatus(files)));
  CHECK(files.Contents().size() == 1);
  files.Put(At("appendonly.aof.manifest"), "file appendonly.aof.1.incr.aof seq 1 type i\n");
  CHECK(absl::IsDataLoss(OpenStatus(files)));
}

TEST_CASE("Nothing is removed while it is not known which manifest is on disk") {
  FakeFileSystem files;
  const auto directory = OpenDirectory(files);
  REQUIRE(directory->AddLog(0).ok());
  REQUIRE(directory->AddLog(1).ok());
  REQUIRE(directory->CreateBase().ok());
  // Behind the renames of the base and of the manifest, the directory cannot be synced.
  files.FailAfter(6, FakeFileSystem::Fault::kIoError, 100);
  CHECK(!directory->PublishBase(1, 2).ok());
  CHECK(files.Contents()[At("appendonly.aof.manifest")] != directory->manifest().Format());
  directory->AbandonBase(1);
  CHECK(!directory->RemoveObsolete().ok());
  CHECK(files.Contents().contains(At("appendonly.aof.1.incr.aof")));
  CHECK(files.Contents().contains(At("appendonly.aof.1.base.tly")));
  // It is the old one, once it has been written again.
  files.StopFaults();
  CHECK(directory->RemoveObsolete().ok());
  CHECK(files.Contents()[At("appendonly.aof.manifest")] == directory->manifest().Format());
  CHECK(!files.Contents().contains(At("appendonly.aof.1.base.tly")));
  CHECK(OpenDirectory(files)->manifest() == directory->manifest());
}

TEST_CASE("A listed file that is missing stops the start") {
  FakeFileSystem files;
  REQUIRE(OpenDirectory(files)->AddLog(0).ok());
  REQUIRE(files.Remove(At("appendonly.aof.1.incr.aof")).ok());
  const auto directory = OpenDirectory(files);
  const absl::Status status = test::Load(*directory).status();
  CHECK(absl::IsNotFound(status));
}

TEST_CASE("A log that is cut at the end of a batch is noticed by the log after it") {
  FakeFileSystem files;
  const auto directory = OpenDirectory(files);
  auto writer = LogWriter::Open(*directory, {}, 0, {.policy = FsyncPolicy::kAlways});
  REQUIRE(writer.ok());
  std::vector<uint64_t> ends;
  for (uint64_t i = 1; i <= 3; ++i) {
    ends.push_back((*writer)->current_size());
    (*writer)->Append(test::Numbered(i));
    REQUIRE((*writer)->Flush(1000).ok());
  }
  auto log = directory->AddLog(1);
  REQUIRE((*writer)->SwitchTo(std::move(*log), 1000).ok());
  (*writer)->Append(test::Numbered(4));
  REQUIRE((*writer)->Flush(1000).ok());
  CHECK(test::Load(*directory)->commands.size() == 4);

  const std::string path = At("appendonly.aof.1.incr.aof");
  const std::string whole = files.Contents()[path];
  for (const uint64_t end : ends) {
    files.Put(path, whole.substr(0, end));
    CHECK(absl::IsDataLoss(test::Load(*directory).status()));
  }
  files.Put(path, whole);
  files.Put(At("appendonly.aof.2.incr.aof"), "");
  CHECK(test::Load(*directory)->commands.size() == 3);
}

TEST_CASE("A torn tail stops the start unless it may be truncated") {
  FakeFileSystem files;
  const auto directory = OpenDirectory(files);
  REQUIRE(directory->AddLog(0).ok());
  files.Put(At("appendonly.aof.1.incr.aof"), test::BuildLog(1, {test::Numbered(1)}) + "*1\r\n$");
  const auto loaded = test::Load(*directory);
  REQUIRE(loaded.ok());
  CHECK(loaded->torn_bytes == 5);
  const absl::Status refused = test::Load(*directory, false).status();
  CHECK(absl::IsDataLoss(refused));
  CHECK(refused.message().find("appendonly.aof.1.incr.aof offset ") != std::string::npos);
}

TEST_CASE("A base that the first log does not continue stops the start") {
  FakeFileSystem files;
  const auto directory = OpenDirectory(files);
  REQUIRE(directory->AddLog(0).ok());
  auto base = directory->CreateBase();
  BaseWriter writer(files, std::move(base->file), {0, base->sequence, 2}, {});
  REQUIRE(writer.Finish().ok());
  REQUIRE(writer.WaitSynced().ok());
  REQUIRE(directory->PublishBase(base->sequence, 1).ok());
  CHECK(absl::IsDataLoss(test::Load(*directory).status()));
}

}  // namespace
}  // namespace tally::server::aof_directory_test
