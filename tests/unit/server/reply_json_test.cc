// Replies as JSON can be read back: no map of users' data looks like an error or like bytes.
#include "server/web/reply_json.h"

#include <absl/strings/escaping.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "core/bytes/str_cat.h"
#include "random_seed.h"
#include "server/command_harness.h"
#include "server/http/json_text.h"

namespace tally::server::reply_json_test {
namespace {

using Json = nlohmann::ordered_json;

std::string Ascii(std::string_view text) {
  std::string ascii;
  for (const char c : text) {
    if (static_cast<uint8_t>(c) < 0x80) ascii += c;
  }
  return ascii;
}

std::string StringForm(std::string_view bytes) { return StrCat("s", bytes.size(), ":", bytes); }
// Of an error only the ASCII characters are compared: others may have become U+FFFD.
std::string ErrorForm(std::string_view text) { return StrCat("e", Ascii(text), "\n"); }

// Builds random replies, and beside each a text that says what it means.
class RandomReply {
 public:
  explicit RandomReply(test::SeededRandom& random) : random_(random) {}

  void Value(int depth) {
    switch (random_.Below(depth < 5 ? 10 : 6)) {
      case 0:
        return Simple("_\r\n", "n");
      case 1:
        return Integer();
      case 2:
        return Simple("#t\r\n", "true");
      case 3:
        return Error();
      case 4:
      case 5:
        return String(RandomBytes());
      case 6:
      case 7:
        return Array(depth);
      default:
        return Map(depth);
    }
  }

  std::string wire;
  std::string form;

 private:
  void Simple(std::string_view reply, std::string_view meaning) {
    wire += reply;
    form += meaning;
  }
  void Integer() {
    const std::string digits = StrCat(random_.Between(-3, 3));
    wire += StrCat(":", digits, "\r\n");
    form += StrCat("i", digits, ";");
  }
  void Error() {
    const std::string text = StrCat("ERR ", RandomBytes());
    wire += StrCat("-", text, "\r\n");
    form += ErrorForm(text);
  }
  void String(std::string_view bytes) {
    const bool status = random_.OneIn(3);
    wire += status ? StrCat("+", bytes, "\r\n") : StrCat("$", bytes.size(), "\r\n", bytes, "\r\n");
    form += StringForm(bytes);
  }
  void Array(int depth) {
    const size_t count = random_.Below(4);
    wire += StrCat(random_.OneIn(2) ? "*" : "~", count, "\r\n");
    form += '[';
    for (size_t i = 0; i < count; ++i) Value(depth + 1);
    form += ']';
  }
  // As stated: a map with a key that is no text, or is "error" or "base64", is an array of pairs.
  void Map(int depth) {
    std::set<std::string> keys;
    for (size_t i = random_.Below(4); i > 0; --i) keys.insert(RandomBytes());
    bool object = true;
    for (const std::string& key : keys) {
      object &= IsUtf8(key) && key != "error" && key != "base64";
    }
    wire += StrCat("%", keys.size(), "\r\n");
    form += object ? '{' : '[';
    for (const std::string& key : keys) {
      if (!object) form += '[';
      String(key);
      Value(depth + 1);
      if (!object) form += ']';
    }
    form += object ? '}' : ']';
  }
  std::string RandomBytes() {
    constexpr std::string_view kWords[] = {"error", "base64", "code", "-1", "", "\xc3\xa9", "\xff"};
    if (random_.OneIn(2)) return std::string(kWords[random_.Below(std::size(kWords))]);
    std::string bytes;
    for (size_t i = random_.Below(6); i > 0; --i) bytes += static_cast<char>(random_.Next());
    for (char& c : bytes) c = c == '\r' || c == '\n' ? '%' : c;
    return bytes;
  }

  test::SeededRandom& random_;
};

// What the JSON means to a reader who knows only the rules that http.md states.
std::string FormOf(const Json& json) {
  if (json.is_null()) return "n";
  if (json.is_boolean()) return json.get<bool>() ? "true" : "false";
  if (json.is_number()) return StrCat("i", json.get<int64_t>(), ";");
  if (json.is_string()) return StringForm(json.get_ref<const std::string&>());
  std::string form;
  if (json.is_array()) {
    for (const Json& one : json) form += FormOf(one);
    return StrCat("[", form, "]");
  }
  if (json.contains("error")) return ErrorForm(json["error"].get<std::string>());
  if (json.contains("base64")) {
    REQUIRE(absl::Base64Unescape(json["base64"].get<std::string>(), &form));
    return StringForm(form);
  }
  for (const auto& [key, value] : json.items()) form += StringForm(key) + FormOf(value);
  return StrCat("{", form, "}");
}

std::string ReplyJson(std::string_view wire) {
  std::string json;
  AppendReplyJson(json, wire, {});
  return json;
}

}  // namespace

TEST_CASE("reply json: what is written is read back", "[http]") {
  test::SeededRandom random;
  for (int round = 0; round < 20'000; ++round) {
    RandomReply reply(random);
    reply.Value(0);
    const std::string json = ReplyJson(reply.wire);
    if (FormOf(Json::parse(json)) != reply.form) FAIL(absl::CHexEscape(reply.wire) << "\n" << json);
  }
}

TEST_CASE("reply json: a map with the members of an error or of bytes is an array of pairs",
          "[http]") {
  CHECK(ReplyJson("%1\r\n$5\r\nerror\r\n$1\r\nx\r\n") == R"([["error","x"]])");
  CHECK(ReplyJson("%1\r\n+base64\r\n$0\r\n\r\n") == R"([["base64",""]])");
  CHECK(ReplyJson("%1\r\n+a\r\n%2\r\n+b\r\n:1\r\n+error\r\n%0\r\n") ==
        R"({"a":[["b",1],["error",{}]]})");
  CHECK(ReplyJson("%1\r\n+Error\r\n:1\r\n") == R"({"Error":1})");
}

TEST_CASE("reply json: the text of an error is always a string", "[http]") {
  CHECK(ReplyJson("-ERR no '\xff\xc3\xa9\xe2\x82'\r\n") ==
        "{\"error\":\"ERR no '\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd'\",\"code\":\"ERR\"}");
  CHECK(ReplyJson("-\xff\r\n") == "{\"error\":\"\xef\xbf\xbd\",\"code\":\"\xef\xbf\xbd\"}");
}

TEST_CASE("reply json: -1 is null only as the length of a string or an array", "[http]") {
  CHECK(ReplyJson(",-1\r\n") == "-1");
  CHECK(ReplyJson("+-1\r\n") == "\"-1\"");
  CHECK(ReplyJson("--1\r\n") == R"({"error":"-1","code":"-1"})");
  CHECK(ReplyJson("$-1\r\n") == "null");
  CHECK(ReplyJson("*-1\r\n") == "null");
}

TEST_CASE("reply json: maps that are nested deeper than is shown", "[http]") {
  std::string deep;
  for (int i = 0; i < 110; ++i) deep += "%1\r\n+a\r\n";
  const std::string json = ReplyJson(StrCat("*2\r\n", deep, ":1\r\n%1\r\n+error\r\n:2\r\n"));
  CHECK(json.ends_with(R"(,[["error",2]]])"));
}

TEST_CASE("reply json: no command names an element of its reply as errors and bytes are marked",
          "[http]") {
  CommandHarness harness;
  for (const CommandEntry& entry : harness.commands.entries()) {
    const std::string names = StrCat(" ", entry.command->reply_names, " ");
    INFO(entry.full_name);
    CHECK(names.find("base64") == std::string::npos);
    // The error of DENIALS is a number; that of an error is a string.
    if (entry.full_name != "denials") CHECK(names.find("error") == std::string::npos);
  }
}

}  // namespace tally::server::reply_json_test
