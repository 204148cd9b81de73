#include "core/table/cursor_code.h"

#include <catch2/catch.hpp>
#include <set>

#include "random_seed.h"

namespace tally::server::cursor_code_test {
namespace {

TEST_CASE("A cursor is shown as another one, and meant again") {
  test::SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  const CursorCode code(random.Next());
  constexpr uint64_t kEnd = uint64_t{1} << 48;
  std::set<uint64_t> shown;
  for (uint64_t i = 1; i < 20'000; ++i) {
    const uint64_t cursor = i < 10'000 ? i : kEnd - i;
    const uint64_t seen = code.Encode(cursor);
    REQUIRE(seen != 0);
    REQUIRE(seen < kEnd);
    REQUIRE(code.Decode(seen) == cursor);
    shown.insert(seen);
  }
  CHECK(shown.size() == 19'999);
  CHECK(code.Encode(0) == 0);
  CHECK(code.Decode(0) == 0);
  CHECK(code.Decode(kEnd) == kEnd);
  CHECK(code.Decode(UINT64_MAX) == UINT64_MAX);
}

TEST_CASE("Cursors in order are shown in none, and otherwise with another key") {
  const CursorCode one(1);
  const CursorCode two(2);
  int rises = 0;
  int same = 0;
  for (uint64_t cursor = 1; cursor < 1000; ++cursor) {
    rises += one.Encode(cursor) < one.Encode(cursor + 1);
    same += one.Encode(cursor) == two.Encode(cursor);
  }
  CHECK(rises > 400);
  CHECK(rises < 600);
  CHECK(same == 0);
}

}  // namespace
}  // namespace tally::server::cursor_code_test
