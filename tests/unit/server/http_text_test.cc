// Texts of HTTP: percent-encoding, JSON strings, replies as JSON, the fields of rate limits.
#include <absl/strings/escaping.h>

#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "core/bytes/str_cat.h"
#include "random_seed.h"
#include "server/http/json_reader.h"
#include "server/http/json_text.h"
#include "server/http/percent.h"
#include "server/web/rate_limit_fields.h"
#include "server/web/reply_json.h"

namespace tally::server::http_text_test {
namespace {

using Json = nlohmann::json;

std::string JsonString(std::string_view bytes) {
  std::string out;
  AppendJsonString(out, bytes);
  return out;
}

std::string ReplyJson(std::string_view wire, std::string_view names = "") {
  std::string out;
  AppendReplyJson(out, wire, names);
  return out;
}

}  // namespace

TEST_CASE("percent: bytes are decoded, and what is no encoding is refused", "[http]") {
  CHECK(PercentDecoded("a%20b%2B+%00%ff") == std::string("a b++\0\xff", 7));
  for (const std::string_view wrong : {"%", "%4", "a%", "%4g", "%g4", "%%20"}) {
    CHECK_FALSE(PercentDecoded(wrong));
  }
  CHECK(ParseQuery("key=a%3Db&cost=2&&flag") ==
        QueryFields{{"key", "a=b"}, {"cost", "2"}, {"flag", ""}});
  CHECK(ParseQuery("key=a=b") == QueryFields{{"key", "a=b"}});
  CHECK(ParseQuery("") == QueryFields{});
  CHECK_FALSE(ParseQuery("key=%zz"));
}

TEST_CASE("json reader: one token after the other, and where it is", "[http]") {
  JsonReader reader(" [ {}:,\"a\\n\\u00e9\\ud83d\\ude00\" \"\" -0.5E+1 0true false null ] x");
  const auto text = [&reader] { return std::string(reader.text()); };
  CHECK(reader.Next() == JsonToken::kArray);
  CHECK(reader.position() == 1);
  CHECK(reader.Next() == JsonToken::kObject);
  CHECK(reader.Next() == JsonToken::kObjectEnd);
  CHECK(reader.Next() == JsonToken::kColon);
  CHECK(reader.Next() == JsonToken::kComma);
  CHECK(reader.Next() == JsonToken::kString);
  CHECK(text() == "a\n\xc3\xa9\xf0\x9f\x98\x80");
  CHECK(reader.Next() == JsonToken::kString);
  CHECK(text().empty());
  CHECK(reader.Next() == JsonToken::kNumber);
  CHECK(text() == "-0.5E+1");
  CHECK(reader.Next() == JsonToken::kNumber);
  CHECK(text() == "0");
  CHECK(reader.Next() == JsonToken::kTrue);
  CHECK(reader.Next() == JsonToken::kFalse);
  CHECK(reader.Next() == JsonToken::kNull);
  CHECK(reader.Next() == JsonToken::kArrayEnd);
  CHECK(reader.Next() == JsonToken::kNone);
  JsonReader blank(" \t\r\n");
  CHECK(blank.Next() == JsonToken::kEnd);
  CHECK(blank.Next() == JsonToken::kEnd);
}

TEST_CASE("json: a string of any bytes is read back by a JSON parser", "[http]") {
  test::SeededRandom random;
  constexpr std::string_view kPieces[] = {"a",       "\"", "\\", "\n",   "\x01", "\x7f",
                                          "é",       "中", "😀", "\xc3", "\xff", "\xed\xa0\x80",
                                          "\xc0\xaf"};
  for (int round = 0; round < 3000; ++round) {
    std::string bytes;
    const size_t kinds = round % 2 == 0 ? 9 : std::size(kPieces);
    for (size_t i = random.Below(30); i > 0; --i) bytes += kPieces[random.Below(kinds)];
    const Json parsed = Json::parse(JsonString(bytes));
    if (parsed.is_string()) {
      CHECK(parsed.get<std::string>() == bytes);
    } else {
      CHECK(kinds > 9);
      std::string decoded;
      CHECK(absl::Base64Unescape(parsed["base64"].get<std::string>(), &decoded));
      CHECK(decoded == bytes);
    }
  }
}

TEST_CASE("json: every byte at every place of a longer string", "[http]") {
  for (int byte = 0; byte < 128; ++byte) {
    for (size_t at = 0; at < 20; ++at) {
      std::string bytes = "abcdefgh\xc3\xa9jklmnopqrst";
      bytes[at] = static_cast<char>(byte);
      if (!IsUtf8(bytes)) continue;
      if (Json::parse(JsonString(bytes)).get<std::string>() != bytes) FAIL(byte << " at " << at);
    }
  }
}

// The library's own judgement: it throws for what is no UTF-8.
TEST_CASE("json: UTF-8 is what a JSON library takes for it", "[http]") {
  const auto agrees = [](const std::string& bytes) {
    // What the library takes for an error is left out of its text.
    const std::string text = Json(bytes).dump(-1, ' ', false, Json::error_handler_t::ignore);
    return IsUtf8(bytes) == (Json::parse(text) == bytes);
  };
  test::SeededRandom random;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      std::string bytes{static_cast<char>(first), static_cast<char>(second)};
      const bool same = agrees(bytes) && agrees(bytes + "\x80") && agrees(bytes + "\xbf\x80") &&
                        agrees("longer than eight " + bytes + "\x80\x80");
      if (!same) FAIL("bytes " << first << " " << second);
    }
  }
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (size_t i = random.Below(12); i > 0; --i) bytes += static_cast<char>(random.Next());
    if (!agrees(bytes)) FAIL(absl::CHexEscape(bytes));
  }
}

TEST_CASE("json: every kind of reply", "[http]") {
  CHECK(ReplyJson("+OK\r\n") == "\"OK\"");
  CHECK(ReplyJson(":-5\r\n") == "-5");
  CHECK(ReplyJson("$3\r\na\"b\r\n") == "\"a\\\"b\"");
  CHECK(ReplyJson("$2\r\n\r\n\r\n") == "\"\\r\\n\"");
  CHECK(ReplyJson("_\r\n") == "null");
  CHECK(ReplyJson("$-1\r\n") == "null");
  CHECK(ReplyJson(",1.5\r\n") == "1.5");
  CHECK(ReplyJson(",inf\r\n") == "\"inf\"");
  CHECK(ReplyJson(",-nan\r\n") == "\"-nan\"");
  CHECK(ReplyJson("#t\r\n") == "true");
  CHECK(ReplyJson("=6\r\ntxt:hi\r\n") == "\"hi\"");
  CHECK(ReplyJson("*2\r\n:1\r\n*0\r\n") == "[1,[]]");
  CHECK(ReplyJson("~1\r\n$1\r\na\r\n") == "[\"a\"]");
  CHECK(ReplyJson("%1\r\n$1\r\na\r\n%1\r\n+b\r\n:2\r\n") == "{\"a\":{\"b\":2}}");
  CHECK(ReplyJson("%2\r\n$1\r\na\r\n*1\r\n:1\r\n$1\r\n\xff\r\n:2\r\n") ==
        "[[\"a\",[1]],[{\"base64\":\"/w==\"},2]]");
  CHECK(ReplyJson("%1\r\n:1\r\n:2\r\n") == "[[1,2]]");
  CHECK(ReplyJson("-WRONGTYPE no\r\n") == R"({"error":"WRONGTYPE no","code":"WRONGTYPE"})");
  CHECK(ReplyJson("*1\r\n-ERR a\r\n") == R"([{"error":"ERR a","code":"ERR"}])");
  CHECK(ReplyJson("") == "null");
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "*1\r\n";
  CHECK(Json::accept(ReplyJson(deep + ":1\r\n")));
}

TEST_CASE("json: names make objects of arrays", "[http]") {
  CHECK(ReplyJson("*2\r\n:1\r\n:2\r\n", "a b") == R"({"a":1,"b":2})");
  CHECK(ReplyJson("*1\r\n:1\r\n", "a b") == "[1]");
  CHECK(ReplyJson("_\r\n", "a b") == "null");
  CHECK(ReplyJson("*2\r\n*2\r\n:1\r\n:2\r\n*2\r\n:3\r\n:4\r\n", "[a b]") ==
        R"([{"a":1,"b":2},{"a":3,"b":4}])");
  CHECK(ReplyJson("*2\r\n:1\r\n*1\r\n*1\r\n*2\r\n:3\r\n:4\r\n", "a b:[[c d]]") ==
        R"({"a":1,"b":[[{"c":3,"d":4}]]})");
  CHECK(
      ReplyJson("*1\r\n*1\r\n*2\r\n:7\r\n*1\r\n*2\r\n:0\r\n:9\r\n", "[[sku left:[action left]]]") ==
      R"([[{"sku":7,"left":[{"action":0,"left":9}]}]])");
}

TEST_CASE("rate limit fields: as the draft has them", "[http]") {
  const LimitRule rules[] = {LimitRule::Sliding(10, 60'000), LimitRule::Fixed(100, 3'600'000)};
  CHECK(RateLimitFields("login", rules, {true, 10, 4, 0, 2001}) ==
        "RateLimit-Policy: \"login\";q=10;w=60\r\nRateLimit: \"login\";r=4;t=3\r\n");
  CHECK(RateLimitFields("login", rules, {false, 100, 0, 1, 3'600'000}) ==
        "RateLimit-Policy: \"login\";q=100;w=3600\r\nRateLimit: \"login\";r=0;t=3600\r\n"
        "Retry-After: 1\r\n");
  // Two rules of one limit, and a cost that never fits.
  const LimitRule twins[] = {LimitRule::Sliding(5, 1000), LimitRule::Sliding(5, 2000)};
  CHECK(RateLimitFields("a\"\\%\n", twins, {false, 5, 5, -1, 0}) ==
        "RateLimit-Policy: \"a\\\"\\\\%25%0A\";q=5\r\nRateLimit: \"a\\\"\\\\%25%0A\";r=5;t=0\r\n");
  // Whichever of them comes first.
  Zone utc;
  const LimitRule daily = LimitRule::Calendar(5, CalendarUnit::kDay, utc);
  for (const auto& pair : {std::array{daily, twins[0]}, std::array{twins[0], daily}}) {
    CHECK(RateLimitFields("d", pair, {true, 5, 4, 0, 1000}).find(";w=") == std::string::npos);
  }
  const LimitRule bucket[] = {LimitRule::Bucket(20, 10, 1000)};
  CHECK(RateLimitFields("b", bucket, {true, 20, 19, 0, 100}) ==
        "RateLimit-Policy: \"b\";q=20;w=2\r\nRateLimit: \"b\";r=19;t=1\r\n");
  // No rule decides: the draft knows nothing to say.
  const LimitRule allow[] = {LimitRule::Allow()};
  CHECK(RateLimitFields("a", allow, {true, -1, -1, 0, 0}).empty());
  // Integers have at most 15 digits.
  const std::string most(15, '9');
  const LimitRule longest[] = {LimitRule::Fixed(INT64_MAX, INT64_MAX)};
  CHECK(RateLimitFields("c", longest, {false, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}) ==
        StrCat("RateLimit-Policy: \"c\";q=", most, ";w=", most, "\r\nRateLimit: \"c\";r=", most,
               ";t=", most, "\r\nRetry-After: ", most, "\r\n"));
  const LimitRule slowest[] = {LimitRule::Bucket(int64_t{1} << 60, 1, int64_t{1} << 40)};
  CHECK(RateLimitFields("b", slowest, {true, int64_t{1} << 60, 1, 0, 0})
            .find(StrCat(";w=", most, "\r\n")) != std::string::npos);
}

}  // namespace tally::server::http_text_test
