// What ReplyBuilder writes is read back.
#include "server/resp/reply_reader.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "random_seed.h"
#include "server/resp/reply.h"

namespace tally::server::reply_reader_test {
namespace {

struct Expected {
  ReplyType type;
  std::string text;  // of what has text
  int64_t number = 0;
};

// Appends random parts to a reply, and beside them what must be read. Aggregates are headers only:
// the reader knows no nesting.
class RandomParts {
 public:
  RandomParts(test::SeededRandom& random, int protocol)
      : random_(random), reply_(output_, protocol), resp3_(protocol == 3) {}

  void Add() {
    const auto number = static_cast<int64_t>(random_.Next());
    const size_t count = random_.Below(1000);
    switch (random_.Below(11)) {
      case 0:
        return reply_.Integer(number), Expect(ReplyType::kInteger, {}, number);
      case 1:
        return reply_.Status("a b"), Expect(ReplyType::kStatus, "a b");
      case 2:
        return reply_.Error("ERR a\r\nb"), Expect(ReplyType::kError, "ERR a  b");
      case 3:
        return AddBulk();
      case 4:
        return reply_.Null(), Expect(resp3_ ? ReplyType::kNull : ReplyType::kNullBulk);
      case 5:
        return reply_.NullArray(), Expect(resp3_ ? ReplyType::kNull : ReplyType::kNullArray);
      case 6:
        return reply_.Array(count), Expect(ReplyType::kArray, {}, static_cast<int64_t>(count));
      case 7:
        reply_.Map(count);
        return Expect(resp3_ ? ReplyType::kMap : ReplyType::kArray, {},
                      static_cast<int64_t>(2 * count));
      case 8:
        reply_.Set(count);
        return Expect(resp3_ ? ReplyType::kSet : ReplyType::kArray, {},
                      static_cast<int64_t>(count));
      case 9:
        reply_.Double(1.5);
        return Expect(resp3_ ? ReplyType::kDouble : ReplyType::kBulk, "1.5");
      default:
        reply_.Verbatim("txt", "a\r\n");
        return Expect(resp3_ ? ReplyType::kVerbatim : ReplyType::kBulk,
                      resp3_ ? "txt:a\r\n" : "a\r\n");
    }
  }

  std::string wire() const { return output_.Joined(); }
  const std::vector<Expected>& expected() const { return expected_; }

 private:
  void AddBulk() {
    std::string bytes(random_.OneIn(10) ? 100'000 : random_.Below(6), '\0');
    for (char& c : bytes) c = "\r\n$-1a"[random_.Below(6)];
    reply_.Bulk(bytes);
    Expect(ReplyType::kBulk, bytes);
  }
  void Expect(ReplyType type, std::string text = {}, int64_t number = 0) {
    expected_.push_back({type, std::move(text), number});
  }

  test::SeededRandom& random_;
  ByteBlocks output_;
  ReplyBuilder reply_;
  const bool resp3_;
  std::vector<Expected> expected_;
};

}  // namespace

TEST_CASE("reply reader: what is built is read back") {
  test::SeededRandom random;
  for (int round = 0; round < 400; ++round) {
    RandomParts parts(random, 2 + round % 2);
    for (size_t i = random.Below(30); i > 0; --i) parts.Add();
    const std::string wire = parts.wire();
    ReplyReader reader(wire);
    for (const Expected& expected : parts.expected()) {
      REQUIRE(!reader.empty());
      const ReplyPart part = reader.Next();
      REQUIRE(part.type == expected.type);
      REQUIRE(part.number == expected.number);
      if (part.type != ReplyType::kInteger && !part.is_aggregate()) {
        REQUIRE(part.text == expected.text);
      }
    }
    REQUIRE(reader.empty());
  }
}

TEST_CASE("reply reader: the ends of what a part may be") {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  ByteBlocks out;
  ReplyBuilder reply(out, 3);
  reply.Integer(kMin);
  reply.Bool(false);
  reply.Status("");
  reply.Raw("(123456789012345678901234567890\r\n");
  reply.Push(2);
  const std::string wire = out.Joined();
  ReplyReader reader(wire);
  CHECK(reader.Next().number == kMin);
  CHECK(reader.Next().text == "f");
  CHECK(reader.Next().text.empty());
  CHECK(reader.Next().text == "123456789012345678901234567890");
  const ReplyPart push = reader.Next();
  CHECK((push.type == ReplyType::kPush && push.is_aggregate() && push.number == 2));
  CHECK(reader.empty());
}

TEST_CASE("reply reader: an error is told by its begin, and its text may be cut off") {
  ByteBlocks out;
  CHECK(!IsError(out, 0));
  ReplyBuilder reply(out);
  reply.Bulk("-ERR");
  const size_t begin = out.size();
  CHECK(!IsError(out, 0));
  CHECK(!IsError(out, begin));
  reply.Error("ERR no");
  CHECK(IsError(out, begin));
  CHECK(!IsError(""));
  CHECK(ErrorText("-ERR no\r\n:1\r\n") == "ERR no");
  CHECK(ErrorText("-ERR n") == "ERR n");
  CHECK(ErrorText("-\r\n").empty());
}

}  // namespace tally::server::reply_reader_test
