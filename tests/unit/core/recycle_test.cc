#include "core/bytes/recycle.h"

#include <catch2/catch.hpp>
#include <string>

namespace tally::recycle_test {
namespace {

TEST_CASE("a recycled string is empty, and keeps no more memory than it may") {
  const size_t empty = std::string().capacity();
  std::string text(100'000, 'x');
  Recycle(text, 100'000);
  CHECK(text.empty());
  CHECK(text.capacity() >= 100'000);
  text.assign(100'001, 'x');
  Recycle(text, 100'000);
  CHECK(text.empty());
  CHECK(text.capacity() == empty);
  text.assign(1000, 'x');
  Recycle(text);
  CHECK(text.capacity() == empty);
}

}  // namespace
}  // namespace tally::recycle_test
