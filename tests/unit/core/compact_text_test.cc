#include "core/bytes/compact_text.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "random_seed.h"

namespace tally::compact_text_test {
namespace {

std::string CodeOf(std::string_view text) { return std::string(CompactText(text).code()); }
std::string TextOf(std::string_view code) { return std::string(PlainText(code).view()); }

TEST_CASE("compact text: canonical integers take as many bytes as they need") {
  const std::vector<std::pair<int64_t, size_t>> kSizes = {
      {0, 2},     {-1, 2},    {127, 2},     {-128, 2},    {128, 3},       {-129, 3},
      {32767, 3}, {32768, 4}, {8388607, 4}, {8388608, 5}, {INT64_MAX, 9}, {INT64_MIN, 9}};
  for (const auto& [number, size] : kSizes) {
    const std::string text = std::to_string(number);
    INFO(text);
    CHECK(CodeOf(text).size() == size);
    CHECK(CodeOf(text) == CompactText(number).code());
    CHECK(IntegerOfCode(CodeOf(text)) == number);
    CHECK(TextOf(CodeOf(text)) == text);
  }
}

TEST_CASE("compact text: what only looks like an integer stays text") {
  for (const std::string text : {"01", "-0", "+1", "1 ", " 1", "", "-", "1.0", "0x1",
                                 "9223372036854775808", "-9223372036854775809"}) {
    INFO(text);
    CHECK(CodeOf(text) == text);
    CHECK_FALSE(IntegerOfCode(CodeOf(text)));
    CHECK(TextOf(CodeOf(text)) == text);
  }
}

TEST_CASE("compact text: lower-case hexadecimal ids take half") {
  const std::string id = "00f1e2d3c4b5a69788796a5b4c3d2e1f";
  CHECK(CodeOf(id).size() == 17);
  CHECK(TextOf(CodeOf(id)) == id);
  CHECK(CodeOf(std::string(128, 'a')).size() == 65);
  // Too short, too long, odd, upper case, not hexadecimal.
  for (const std::string& text :
       {std::string("abcdef"), std::string(130, 'a'), std::string("abcdefabc"),
        std::string("ABCDEFAB"), std::string("abcdefg0"), std::string("abcdef0g")}) {
    INFO(text);
    CHECK(CodeOf(text) == text);
  }
  // As long as a code of an integer, but none.
  CHECK_FALSE(IntegerOfCode(CodeOf("abcdabcd")));
}

TEST_CASE("compact text: records of binary numbers are held without their zeros") {
  // As MessagePack writes {"Limit": 2, "Sec": 2592000} with numbers of 64 bits.
  using std::string_literals::operator""s;
  const std::string record = "\x82\xa5Limit\xd3\0\0\0\0\0\0\0\2\xa3Sec\xd3\0\0\0\0\0\x27\x8d\0"s;
  CHECK(record.size() == 29);
  CHECK(CodeOf(record).size() == 23);
  CHECK(TextOf(CodeOf(record)) == record);
  CHECK(CodeOf(std::string(256, '\0')).size() == 5);
  // Too long; too few zeros.
  for (const std::string& text : {std::string(257, '\0'), "a\0\0\0b"s, "\0a\0a\0a\0\0\0"s}) {
    CHECK(CodeOf(text) == text);
  }
  CHECK(CodeOf("a\0\0\0\0b"s).size() == 5);
}

TEST_CASE("compact text: distinguishes codes from other bytes") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  size_t codes = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string bytes(random.Below(12), '\0');
    for (char& byte : bytes) {
      if (!random.OneIn(3)) byte = static_cast<char>(random.Below(256));
    }
    if (!bytes.empty() && random.OneIn(2)) bytes[0] = static_cast<char>(random.Between(0xF4, 0xFF));
    if (random.OneIn(50)) bytes.append(random.Below(400), bytes.empty() ? 'x' : bytes.back());
    const bool is_code = IsCode(bytes);
    codes += is_code ? 1 : 0;
    REQUIRE(IsCode(CodeOf(bytes)));
    if (is_code) REQUIRE(CodeOf(TextOf(bytes)) == bytes);
  }
  CHECK(codes > 10'000);
  CHECK(codes < 90'000);
  CHECK_FALSE(IsCode("5"));
  CHECK_FALSE(IsCode("\xf6" + std::string(65, 'x')));
  CHECK_FALSE(IsCode("\xff"));
}

TEST_CASE("compact text: every byte string comes back, and no two share a code") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  std::map<std::string, std::string> text_by_code;
  const auto check = [&](const std::string& text) {
    const std::string code = CodeOf(text);
    REQUIRE(TextOf(code) == text);
    const auto [it, fresh] = text_by_code.emplace(code, text);
    REQUIRE(it->second == text);
  };
  for (int byte = 0; byte < 256; ++byte) {
    for (size_t size : {1, 2, 3, 9, 17, 200}) {
      std::string text(size, 'x');
      text[0] = static_cast<char>(byte);
      check(text);
    }
  }
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    const auto bytes = random.Below(12);
    const bool binary = random.OneIn(2);
    for (uint64_t b = 0; b < bytes; ++b) {
      text.push_back(static_cast<char>(binary ? random.Between(0xF0, 0xFF)
                                              : "0123456789abcdef-"[random.Below(17)]));
      if (random.OneIn(6)) text.append(random.Below(6), '\0');
    }
    check(text);
    check(CodeOf(text));
  }
}

}  // namespace
}  // namespace tally::compact_text_test
