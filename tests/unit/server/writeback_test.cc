#include "server/aof/writeback.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "fake_file_system.h"

namespace tally::server::writeback_test {

TEST_CASE("writeback: the disk is asked to take all of a growing file but its last megabyte",
          "[aof]") {
  constexpr uint64_t kMebibyte = uint64_t{1} << 20;
  test::FakeFileSystem files;
  Writeback writeback(files);
  for (const std::string path : {"/log", "/next_log"}) {
    const auto file = files.Create(path);
    REQUIRE(file.ok());
    const std::string piece(100'000, 'p');
    uint64_t end = 0;
    const auto append = [&] {
      REQUIRE((*file)->Append(piece).ok());
      end += piece.size();
      writeback.Appended(**file, end);
    };
    while (end + piece.size() < 2 * kMebibyte) append();
    CHECK(files.WrittenBack(path) == 0);
    while (end < 20 * kMebibyte) {
      append();
      CHECK(files.WrittenBack(path) + kMebibyte <= end);
    }
    // What came while the thread was busy is not left out.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (files.WrittenBack(path) + 2 * kMebibyte <= end) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      writeback.Appended(**file, end);
    }
    writeback.Stop();
    CHECK(files.WrittenBack(path) % kMebibyte == 0);
    CHECK(files.WrittenBack(path) + kMebibyte <= end);
  }
}

}  // namespace tally::server::writeback_test
