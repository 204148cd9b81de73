#include "core/bytes/varint.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "tests/unit/random_seed.h"

namespace tally::varint_test {
namespace {

constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST_CASE("A varint has the bytes of LEB128", "[varint]") {
  const auto encoded = [](uint64_t value) {
    std::string out;
    AppendVarint(out, value);
    return out;
  };
  CHECK(encoded(0) == std::string(1, '\0'));
  CHECK(encoded(127) == "\x7f");
  CHECK(encoded(128) == "\x80\x01");
  CHECK(encoded(300) == "\xac\x02");
  CHECK(encoded(kMax) == "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST_CASE("Varints read back, and no prefix of one does", "[varint]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 2000; ++round) {
    const uint64_t value = random.Next() >> random.Below(64);
    std::string out;
    AppendVarint(out, value);
    REQUIRE(out.size() == VarintBytes(value));
    for (size_t cut = 0; cut < out.size(); ++cut) {
      std::string_view torn = std::string_view(out).substr(0, cut);
      uint64_t untouched = 42;
      REQUIRE_FALSE(ReadVarint(torn, untouched));
      REQUIRE(untouched == 42);
      REQUIRE(torn.size() == cut);
    }
    // How it is read depends on how much follows.
    const std::string tail(random.Below(12), 't');
    out += tail;
    std::string_view in = out;
    uint64_t back = 0;
    REQUIRE(ReadVarint(in, back));
    REQUIRE(back == value);
    REQUIRE(in == tail);
  }
}

TEST_CASE("A varint past 64 bits is refused", "[varint]") {
  for (const std::string& bytes : {std::string(9, '\xff') + '\x02', std::string(10, '\x80'),
                                   std::string(10, '\xff') + '\x01'}) {
    std::string_view in = bytes;
    uint64_t value = 0;
    CHECK_FALSE(ReadVarint(in, value));
    CHECK(in.size() == bytes.size());
  }
}

TEST_CASE("Zigzag keeps small numbers small and loses none", "[varint]") {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  CHECK(ZigZagEncode(0) == 0);
  CHECK(ZigZagEncode(-1) == 1);
  CHECK(ZigZagEncode(1) == 2);
  CHECK(ZigZagEncode(kHighest) == kMax - 1);
  CHECK(ZigZagEncode(kLowest) == kMax);
  for (const int64_t value : {kLowest, kLowest + 1, int64_t{-2}, int64_t{-1}, int64_t{0},
                              int64_t{1}, kHighest - 1, kHighest}) {
    CHECK(ZigZagDecode(ZigZagEncode(value)) == value);
    std::string out;
    AppendSignedVarint(out, value);
    std::string_view in = out;
    int64_t back = 0;
    REQUIRE(ReadSignedVarint(in, back));
    CHECK(back == value);
    CHECK(in.empty());
  }
}

TEST_CASE("A length prefix cannot reach past the end", "[varint]") {
  std::string out;
  AppendLengthPrefixed(out, "hello");
  AppendLengthPrefixed(out, "");
  std::string_view in = out;
  std::string_view bytes;
  REQUIRE(ReadLengthPrefixed(in, bytes));
  CHECK(bytes == "hello");
  REQUIRE(ReadLengthPrefixed(in, bytes));
  CHECK(bytes.empty());
  CHECK_FALSE(ReadLengthPrefixed(in, bytes));

  std::string_view torn = std::string_view(out).substr(0, 5);
  CHECK_FALSE(ReadLengthPrefixed(torn, bytes));
  CHECK(torn.size() == 5);
  std::string huge;
  AppendVarint(huge, kMax);
  std::string_view claims_all_memory = huge;
  CHECK_FALSE(ReadLengthPrefixed(claims_all_memory, bytes));
}

TEST_CASE("a number above the most is refused, and nothing is taken") {
  std::string bytes;
  AppendVarint(bytes, 1'000);
  AppendVarint(bytes, 1'001);
  AppendVarint(bytes, UINT64_MAX);
  std::string_view in = bytes;
  int64_t number = 7;
  REQUIRE(ReadVarintUpTo(in, 1'000, number));
  CHECK(number == 1'000);
  const size_t left = in.size();
  CHECK_FALSE(ReadVarintUpTo(in, 1'000, number));
  CHECK(number == 1'000);
  CHECK(in.size() == left);
  REQUIRE(ReadVarintUpTo(in, 1'001, number));
  CHECK_FALSE(ReadVarintUpTo(in, INT64_MAX, number));
}

}  // namespace
}  // namespace tally::varint_test
