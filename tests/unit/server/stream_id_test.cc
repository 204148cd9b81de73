#include "server/effects/stream_id.h"

#include <catch2/catch.hpp>
#include <string>

namespace tally::server::stream_id_test {
namespace {

const std::string kA(40, 'a');
const std::string kB(40, 'b');
const std::string kC(40, 'c');

TEST_CASE("an id has 40 lower-case hexadecimal digits", "[stream_id]") {
  CHECK(StreamId::IsId(kA));
  CHECK(StreamId::IsId(StreamId::None()));
  CHECK_FALSE(StreamId::IsId(std::string(39, 'a')));
  CHECK_FALSE(StreamId::IsId(std::string(41, 'a')));
  CHECK_FALSE(StreamId::IsId(std::string(40, 'A')));
  CHECK_FALSE(StreamId::IsId(std::string(40, 'g')));
  CHECK_FALSE(StreamId::IsId("?"));
}

TEST_CASE("a reader goes on with its own history only, and not after its end", "[stream_id]") {
  const StreamId id(kA);
  CHECK(id.Continues(kA, 0, 100));
  CHECK(id.Continues(kA, 100, 100));
  CHECK_FALSE(id.Continues(kA, 101, 100));
  CHECK_FALSE(id.Continues(kB, 0, 100));
  // There is no history before the first.
  CHECK_FALSE(id.Continues(StreamId::None(), 0, 100));
}

TEST_CASE("after a shift the old id is true up to where it was shifted", "[stream_id]") {
  StreamId id(kA);
  id.Shift(kB, 100);
  CHECK(id.id() == kB);
  CHECK(id.previous() == kA);
  CHECK(id.Continues(kA, 100, 200));
  CHECK_FALSE(id.Continues(kA, 101, 200));
  CHECK(id.Continues(kB, 200, 200));
  id.Shift(kC, 150);
  CHECK(id.Continues(kB, 150, 200));
  CHECK_FALSE(id.Continues(kB, 151, 200));
  CHECK_FALSE(id.Continues(kA, 50, 200));
}

TEST_CASE("another history replaces both ids", "[stream_id]") {
  StreamId id(kA);
  id.Shift(kB, 100);
  id.Adopt(kC);
  CHECK_FALSE(id.has_previous());
  CHECK_FALSE(id.Continues(kA, 10, 200));
  CHECK_FALSE(id.Continues(kB, 10, 200));
  CHECK(id.Continues(kC, 10, 200));
  // A primary says its id with each partial resync: the same one changes nothing.
  id.Follow(kC, 150);
  CHECK_FALSE(id.has_previous());
  id.Follow(kA, 150);
  CHECK(id.Continues(kC, 150, 200));
  CHECK_FALSE(id.Continues(kC, 151, 200));
}

}  // namespace
}  // namespace tally::server::stream_id_test
