#include "server/resp/reply.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace tally::server::reply_test {
namespace {

std::string Built(int protocol, const std::function<void(ReplyBuilder&)>& build) {
  ByteBlocks out;
  ReplyBuilder reply(out, protocol);
  build(reply);
  return out.Joined();
}

// In both protocols, where they agree.
std::string Built(const std::function<void(ReplyBuilder&)>& build) {
  const std::string resp2 = Built(2, build);
  CHECK(resp2 == Built(3, build));
  return resp2;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("reply: what is alike in both protocols") {
  CHECK(Built([](auto& r) { r.Ok(); }) == "+OK\r\n");
  CHECK(Built([](auto& r) { r.Status("PONG"); }) == "+PONG\r\n");
  CHECK(Built([](auto& r) { r.Error("ERR no"); }) == "-ERR no\r\n");
  CHECK(Built([](auto& r) { r.Bulk(""); }) == "$0\r\n\r\n");
  CHECK(Built([](auto& r) { r.Bulk("a\r\nb"); }) == "$4\r\na\r\nb\r\n");
  CHECK(Built([](auto& r) { r.BulkInteger(-12); }) == "$3\r\n-12\r\n");
  CHECK(Built([](auto& r) { r.Array(0); }) == "*0\r\n");
  CHECK(Built([](auto& r) { r.Array(1234567); }) == "*1234567\r\n");
  CHECK(Built([](auto& r) { r.Raw(":1\r\n"); }) == ":1\r\n");
}

TEST_CASE("reply: integers") {
  for (const int64_t value :
       {int64_t{0}, int64_t{9}, int64_t{10}, int64_t{-1}, int64_t{-10},
        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    const std::string digits = std::to_string(value);
    CHECK(Built([value](auto& r) { r.Integer(value); }) == ":" + digits + "\r\n");
    CHECK(Built([value](auto& r) { r.BulkInteger(value); }) ==
          "$" + std::to_string(digits.size()) + "\r\n" + digits + "\r\n");
  }
}

TEST_CASE("reply: several integers in one piece") {
  ByteBlocks output;
  ReplyBuilder reply(output);
  const int64_t values[] = {1, -1, INT64_MIN, INT64_MAX, 0, 10, 99, INT64_MIN};
  reply.Integers(values);
  CHECK(output.Joined() ==
        ":1\r\n:-1\r\n:-9223372036854775808\r\n:9223372036854775807\r\n:0\r\n:10\r\n:99\r\n"
        ":-9223372036854775808\r\n");
  output.Clear();
  reply.IntegerPair(INT64_MIN, 7);
  CHECK(output.Joined() == "*2\r\n:-9223372036854775808\r\n:7\r\n");
}

TEST_CASE("reply: bulks of every length around the short path") {
  ByteBlocks out;
  ReplyBuilder reply(out);
  std::string expected;
  for (size_t length = 0; length < 300; ++length) {
    const std::string value(length, static_cast<char>(length));
    reply.Bulk(value);
    expected += "$" + std::to_string(length) + "\r\n" + value + "\r\n";
  }
  CHECK(out.Joined() == expected);
}

TEST_CASE("reply: errors and statuses cannot hold a line end") {
  CHECK(Built([](auto& r) { r.Error("ERR a\r\nb\n"); }) == "-ERR a  b\r\n");
  CHECK(Built([](auto& r) { r.Error("\r\n\nERR a\r\r\n"); }) == "-ERR a\r\n");
  CHECK(Built([](auto& r) { r.Status("a\r\n+OK\r\n"); }) == "+a  +OK\r\n");
  CHECK(Built([](auto& r) { r.Error("\r\n"); }) == "-\r\n");
  CHECK(Built([](auto& r) { r.Error(""); }) == "-\r\n");
  // What is already in the output stays.
  CHECK(Built([](auto& r) {
          r.Ok();
          r.Error("ERR a\nb");
        }) == "+OK\r\n-ERR a b\r\n");
}

TEST_CASE("reply: what differs between the protocols") {
  const auto both = [](auto build) { return Built(2, build) + "|" + Built(3, build); };
  CHECK(both([](auto& r) { r.Null(); }) == "$-1\r\n|_\r\n");
  CHECK(both([](auto& r) { r.NullArray(); }) == "*-1\r\n|_\r\n");
  CHECK(both([](auto& r) { r.Map(3); }) == "*6\r\n|%3\r\n");
  CHECK(both([](auto& r) { r.Set(3); }) == "*3\r\n|~3\r\n");
  CHECK(both([](auto& r) { r.Push(2); }) == "*2\r\n|>2\r\n");
  CHECK(both([](auto& r) { r.Bool(true); }) == ":1\r\n|#t\r\n");
  CHECK(both([](auto& r) { r.Bool(false); }) == ":0\r\n|#f\r\n");
  CHECK(both([](auto& r) { r.Verbatim("txt", "Some string"); }) ==
        "$11\r\nSome string\r\n|=15\r\ntxt:Some string\r\n");
  CHECK(both([](auto& r) { r.Double(0.1); }) ==
        "$19\r\n0.10000000000000001\r\n|,0.10000000000000001\r\n");
  CHECK(both([](auto& r) { r.Double(3); }) == "$1\r\n3\r\n|,3\r\n");
  CHECK(both([](auto& r) { r.Double(kInfinity); }) == "$3\r\ninf\r\n|,inf\r\n");
  CHECK(both([](auto& r) { r.Double(-kInfinity); }) == "$4\r\n-inf\r\n|,-inf\r\n");
}

TEST_CASE("reply: a protocol changed between replies") {
  ByteBlocks out;
  ReplyBuilder reply(out);
  reply.Null();
  reply.set_protocol(3);
  reply.Null();
  CHECK(reply.protocol() == 3);
  CHECK(out.Joined() == "$-1\r\n_\r\n");
}

TEST_CASE("reply: headers put in afterwards") {
  const auto nested = [](ReplyBuilder& r) {
    r.Ok();
    const size_t outer = r.BeginArray();
    r.Integer(1);
    const size_t map = r.BeginMap();
    r.Bulk("k");
    const size_t set = r.BeginSet();
    for (int i = 0; i < 12; ++i) r.Integer(i % 10);
    r.EndSet(set, 12);
    r.EndMap(map, 1);
    r.EndArray(outer, 2);
  };
  const std::string members =
      ":0\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n:9\r\n:0\r\n:1\r\n";
  CHECK(Built(2, nested) == "+OK\r\n*2\r\n:1\r\n*2\r\n$1\r\nk\r\n*12\r\n" + members);
  CHECK(Built(3, nested) == "+OK\r\n*2\r\n:1\r\n%1\r\n$1\r\nk\r\n~12\r\n" + members);
  CHECK(Built([](ReplyBuilder& r) {
          const size_t mark = r.BeginArray();
          r.EndArray(mark, 0);
        }) == "*0\r\n");
}

}  // namespace tally::server::reply_test
