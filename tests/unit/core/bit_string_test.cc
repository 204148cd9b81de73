#include "core/bytes/bit_string.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/bytes/text.h"
#include "random_seed.h"

namespace tally::bit_string_test {
namespace {

std::string RandomBytes(test::SeededRandom& random, size_t size) {
  std::string bytes(size, '\0');
  // Long stretches of equal bits, as the word-wise loops meet them.
  for (char& c : bytes) {
    const auto kind = random.Below(8);
    c = static_cast<char>(kind < 3 ? 0 : kind < 6 ? 0xFF : random.Below(256));
  }
  return bytes;
}

std::vector<bool> BitsOf(const std::string& bytes) {
  std::vector<bool> bits;
  for (size_t i = 0; i < 8 * bytes.size(); ++i) bits.push_back(BitAt(bytes, i));
  return bits;
}

}  // namespace

TEST_CASE("Bit 0 is the most significant one", "[bits]") {
  Text bytes(std::string(2, '\0'));
  SetBitAt(bytes, 0, true);
  SetBitAt(bytes, 15, true);
  CHECK(bytes.view() == "\x80\x01");
  SetBitAt(bytes, 0, false);
  CHECK(bytes.view() == std::string("\0\x01", 2));
  CHECK(BitAt(bytes, 15));
  CHECK_FALSE(BitAt(bytes, 14));
}

TEST_CASE("Ones are counted and found as one would bit by bit", "[bits]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 400; ++round) {
    const std::string bytes = RandomBytes(random, random.Below(round % 10 == 0 ? 600 : 40));
    const std::vector<bool> bits = BitsOf(bytes);
    const size_t from = random.Below(bits.size() + 1);
    const size_t to = from + random.Below(bits.size() - from + 1);
    const auto begin = bits.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = bits.begin() + static_cast<std::ptrdiff_t>(to);
    CAPTURE(bits.size(), from, to);
    REQUIRE(CountOnes(bytes, from, to) == static_cast<size_t>(std::count(begin, end, true)));
    for (const bool value : {false, true}) {
      const auto it = std::find(begin, end, value);
      const auto found = FindBit(bytes, value, from, to);
      REQUIRE(found.has_value() == (it != end));
      if (found) REQUIRE(*found == static_cast<size_t>(it - bits.begin()));
    }
  }
}

TEST_CASE("All ones of many words are counted", "[bits]") {
  const std::string bytes(1000, '\xFF');
  CHECK(CountOnes(bytes, 0, 8000) == 8000);
  CHECK(CountOnes(bytes, 3, 7995) == 7992);
  CHECK_FALSE(FindBit(bytes, false, 0, 8000));
}

TEST_CASE("The shorter operand counts as followed by zeros", "[bits]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 200; ++round) {
    const std::string a = RandomBytes(random, random.Below(40));
    const std::string b = RandomBytes(random, random.Below(40));
    const size_t size = std::max(a.size(), b.size());
    const auto byte = [](const std::string& s, size_t i) { return i < s.size() ? s[i] : '\0'; };
    Text conjunction(a);
    Text disjunction(a);
    Text difference(a);
    Text inverse(a);
    AndBits(conjunction, b);
    OrBits(disjunction, b);
    XorBits(difference, b);
    InvertBits(inverse);
    REQUIRE(conjunction.size() == size);
    REQUIRE(disjunction.size() == size);
    REQUIRE(difference.size() == size);
    for (size_t i = 0; i < size; ++i) {
      REQUIRE(conjunction[i] == static_cast<char>(byte(a, i) & byte(b, i)));
      REQUIRE(disjunction[i] == static_cast<char>(byte(a, i) | byte(b, i)));
      REQUIRE(difference[i] == static_cast<char>(byte(a, i) ^ byte(b, i)));
    }
    for (size_t i = 0; i < a.size(); ++i) REQUIRE(inverse[i] == static_cast<char>(~a[i]));
  }
}

}  // namespace tally::bit_string_test
