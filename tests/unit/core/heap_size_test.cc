#include "core/bytes/heap_size.h"

#include <catch2/catch.hpp>

namespace tally::heap_size_test {
namespace {

TEST_CASE("Requests round up to jemalloc's size classes", "[heap_size]") {
  CHECK(HeapBytes(0) == 0);
  CHECK(HeapBytes(1) == 8);
  CHECK(HeapBytes(9) == 16);
  CHECK(HeapBytes(17) == 32);
  CHECK(HeapBytes(33) == 48);
  CHECK(HeapBytes(128) == 128);
  CHECK(HeapBytes(129) == 160);
  CHECK(HeapBytes(256) == 256);
  CHECK(HeapBytes(257) == 320);
  CHECK(HeapBytes(4097) == 5120);
  CHECK(HeapBytes(1 << 20) == 1 << 20);
}

}  // namespace
}  // namespace tally::heap_size_test
