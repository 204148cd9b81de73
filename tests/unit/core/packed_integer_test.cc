#include "core/quota/packed_integer.h"

#include <catch2/catch.hpp>
#include <vector>

#include "random_seed.h"

namespace tally::packed_integer_test {
namespace {

using test::SeededRandom;

// A copy that ends where its memory does, so that a sanitizer sees what reads beyond it.
std::vector<char> Exact(const std::string& bytes) { return {bytes.begin(), bytes.end()}; }

std::string_view ViewOf(const std::vector<char>& bytes) { return {bytes.data(), bytes.size()}; }

TEST_CASE("packed integers of every length are read, with much after them and with nothing") {
  SeededRandom random;
  INFO("seed " << random.seed());
  for (uint32_t bytes = 1; bytes <= 8; ++bytes) {
    for (size_t after = 0; after <= 9; ++after) {
      const uint64_t value = random.Next() >> (64 - 8 * bytes) | uint64_t{1} << (8 * bytes - 1);
      std::string packed;
      AppendPacked(packed, value, bytes);
      CHECK(PackedBytes(value) == bytes);
      const auto exact = Exact(packed + std::string(after, '\xff'));
      PackedInput in(ViewOf(exact));
      CHECK(in.Fixed(bytes) == value);
      CHECK(in.rest().size() == after);
      CHECK_FALSE(in.failed());
    }
  }
}

TEST_CASE("packed integers that are cut short are read as 0, and so is what follows") {
  for (uint32_t bytes = 1; bytes <= 8; ++bytes) {
    for (uint32_t there = 0; there < bytes; ++there) {
      const auto exact = Exact(std::string(there, '\x11'));
      PackedInput in(ViewOf(exact));
      CHECK(in.Fixed(bytes) == 0);
      CHECK(in.failed());
      CHECK(in.Byte() == 0);
      CHECK(in.Varint() == 0);
      CHECK(in.VarintIf(true) == 0);
    }
  }
}

TEST_CASE("varints that may be absent are read where they are there, and nothing where not") {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, UINT64_MAX}) {
    std::string bytes;
    AppendVarint(bytes, value);
    const auto exact = Exact(bytes);
    PackedInput there(ViewOf(exact));
    CHECK(there.VarintIf(true) == value);
    CHECK(there.empty());
    PackedInput absent(ViewOf(exact));
    CHECK(absent.VarintIf(false) == 0);
    CHECK(absent.rest() == bytes);
    CHECK(absent.Varint() == value);
  }
  PackedInput end{std::string_view()};
  CHECK(end.VarintIf(false) == 0);
  CHECK_FALSE(end.failed());
  CHECK(end.VarintIf(true) == 0);
  CHECK(end.failed());
}

}  // namespace
}  // namespace tally::packed_integer_test
