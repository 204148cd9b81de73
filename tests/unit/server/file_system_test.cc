#include "server/aof/file_system.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

namespace tally::server::file_system_test {
namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tally-test-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST_CASE("Files of a real disk are written, read, truncated, renamed and removed") {
  const TemporaryDirectory root;
  PosixFileSystem files;
  const std::string directory = root / "aof";
  REQUIRE(files.CreateDirectory(directory).ok());
  CHECK(files.CreateDirectory(directory).ok());
  {
    auto file = files.Create(directory + "/b");
    REQUIRE(file.ok());
    CHECK(AppendAll(**file, "0123456789").ok());
    CHECK((*file)->Truncate(4).ok());
    CHECK(AppendAll(**file, "abc").ok());
    CHECK((*file)->Sync().ok());
    CHECK(*(*file)->Size() == 7);
    std::string bytes(10, '.');
    CHECK(*ReadFull(**file, 2, bytes) == 5);
    CHECK(bytes == "23abc.....");
  }
  {
    auto file = files.OpenForAppend(directory + "/b");
    REQUIRE(file.ok());
    CHECK(AppendAll(**file, "!").ok());
  }
  CHECK(files.Create(directory + "/a").ok());
  CHECK(*files.List(directory) == std::vector<std::string>{"a", "b"});
  CHECK(files.Rename(directory + "/b", directory + "/a").ok());
  CHECK(files.SyncDirectory(directory).ok());
  CHECK(*ReadSmallFile(files, directory + "/a", 8) == "0123abc!");
  CHECK(absl::IsOutOfRange(ReadSmallFile(files, directory + "/a", 7).status()));
  CHECK(files.Remove(directory + "/a").ok());
  CHECK(files.List(directory)->empty());
  CHECK(files.Remove(directory).ok());
  CHECK(absl::IsNotFound(files.List(directory).status()));
}

TEST_CASE("What has left the page cache is read from the disk") {
  const TemporaryDirectory root;
  PosixFileSystem files;
  const std::string path = root / "file";
  auto file = files.Create(path);
  REQUIRE(file.ok());
  const std::string content(3 * 4096 + 5, 'x');
  REQUIRE(AppendAll(**file, content).ok());
  REQUIRE((*file)->Sync().ok());
  (*file)->DropCached(0, content.size());
  (*file)->ReadAhead(0, 2 * content.size());
  std::string read(content.size(), '\0');
  CHECK(*ReadFull(**file, 0, read) == content.size());
  CHECK(read == content);
}

TEST_CASE(
    "A large file that is removed is closed in the end, and read by who has it open until then") {
  const TemporaryDirectory root;
  PosixFileSystem files;
  const std::string path = root / "large";
  auto file = files.Create(path);
  REQUIRE(file.ok());
  const std::string content(5 << 20, 'x');
  REQUIRE(AppendAll(**file, content).ok());
  CHECK(files.Remove(path).ok());
  CHECK(files.List(root / ".")->empty());
  CHECK(absl::IsNotFound(files.OpenForRead(path).status()));
  std::string read(content.size(), '\0');
  CHECK(*ReadFull(**file, 0, read) == content.size());
  CHECK(read == content);
  *file = nullptr;
  const auto is_open = [&] {
    const auto open = std::filesystem::directory_iterator("/proc/self/fd");
    return std::any_of(begin(open), end(open), [&](const auto& descriptor) {
      std::error_code gone;
      return std::filesystem::read_symlink(descriptor, gone).string().starts_with(path);
    });
  };
  while (is_open()) std::this_thread::yield();
}

TEST_CASE("Errors of a real disk have their code and name the file") {
  const TemporaryDirectory root;
  PosixFileSystem files;
  const std::string missing = root / "missing";
  for (const absl::Status& status :
       {files.OpenForRead(missing).status(), files.OpenForAppend(missing).status(),
        files.Remove(missing), files.Rename(missing, root / "x"), files.List(missing).status(),
        files.SyncDirectory(missing), files.Create(missing + "/x").status()}) {
    INFO(status.ToString());
    CHECK(absl::IsNotFound(status));
    CHECK(status.message().find(missing) != std::string::npos);
  }
}

TEST_CASE("A lock is held once, until it is dropped") {
  const TemporaryDirectory root;
  PosixFileSystem files;
  {
    const auto held = files.Lock(root / "lock");
    REQUIRE(held.ok());
    CHECK(absl::IsUnavailable(files.Lock(root / "lock").status()));
  }
  CHECK(files.Lock(root / "lock").ok());
}

}  // namespace
}  // namespace tally::server::file_system_test
