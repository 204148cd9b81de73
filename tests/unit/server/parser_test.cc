#include "server/resp/parser.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "random_seed.h"
#include "server/request_text.h"
#include "server/resp/split_args.h"

namespace tally::server::parser_test {
namespace {

using namespace std::string_literals;

// What a stream of bytes parses to: every command, and the error that ended it, if any.
struct Transcript {
  std::vector<std::vector<std::string>> commands;
  std::string error;
  size_t left_over = 0;

  bool operator==(const Transcript&) const = default;
};

// These add what was parsed to `commands` and return its bytes.
size_t TakeOne(const RequestParser& parser, std::vector<std::vector<std::string>>& commands) {
  REQUIRE(parser.consumed() > 0);
  commands.emplace_back(parser.args().begin(), parser.args().end());
  return parser.consumed();
}

size_t TakeBatch(const RequestParser& parser, std::vector<std::vector<std::string>>& commands) {
  size_t bytes = 0;
  REQUIRE_FALSE(parser.requests().empty());
  REQUIRE(parser.requests().size() <= RequestParser::kMaxBatch);
  for (const RequestParser::Request& request : parser.requests()) {
    REQUIRE(request.consumed > 0);
    const auto args = parser.args_of(request);
    commands.emplace_back(args.begin(), args.end());
    bytes += request.consumed;
  }
  return bytes;
}

// Feeds `stream` in pieces that end at `cuts` (ascending), each time from a fresh address of
// exactly the right size, so that a sanitizer sees a view into an old buffer and any read past the
// end.
Transcript Feed(const std::string& stream, const std::vector<size_t>& cuts,
                const ParserLimits& limits = {}, bool in_batches = false) {
  Transcript result;
  RequestParser parser(limits);
  size_t begin = 0;
  std::vector<size_t> ends = cuts;
  ends.push_back(stream.size());
  for (const size_t end : ends) {
    const std::vector<char> buffer(stream.begin() + static_cast<ptrdiff_t>(begin),
                                   stream.begin() + static_cast<ptrdiff_t>(end));
    size_t at = 0;
    for (;;) {
      const std::string_view rest(buffer.data() + at, buffer.size() - at);
      const ParseStatus status = in_batches ? parser.NextBatch(rest) : parser.Next(rest);
      if (status == ParseStatus::kError) {
        result.error = parser.error();
        return result;
      }
      if (status == ParseStatus::kNeedMore) {
        REQUIRE(parser.wanted() > 0);
        REQUIRE(parser.consumed() == 0);
        break;
      }
      at += in_batches ? TakeBatch(parser, result.commands) : TakeOne(parser, result.commands);
      REQUIRE(at <= buffer.size());
    }
    begin += at;
  }
  result.left_over = stream.size() - begin;
  return result;
}

std::string ErrorOf(const std::string& stream, const ParserLimits& limits = {}) {
  return Feed(stream, {}, limits).error;
}

std::vector<std::string> CommandOf(const std::string& stream) {
  const Transcript result = Feed(stream, {});
  REQUIRE(result.error.empty());
  REQUIRE(result.left_over == 0);
  REQUIRE(result.commands.size() == 1);
  return result.commands.front();
}

const std::vector<std::string>& Corpus() {
  static const std::vector<std::string> corpus = {
      RequestText({"PING"}),
      RequestText({"SET", "key", "value"}),
      RequestText({"SET", "", std::string(123, 'v')}),
      RequestText({"ECHO", "a\r\n$3\0*1\r\n"s}),
      RequestText(std::vector<std::string>(12, "argument")),
      RequestText({"GET", "a"}) + RequestText({"GET", "b"}) + "PING\r\n" +
          RequestText({"GET", "c"}),
      "*0\r\n*-1\r\n\r\n \n*-10\r\nPING\r\n",
      "PING\n",
      "SET  key\tvalue \r\n",
      "SET key \"a \\x00\\\"b\" 'it\\'s'\r\n",
      "\vECHO\va b\f\r\n",
      "*1\rx$4\rxPINGxx",
      "*1\r\n$4\r\nPI",
      "*2147483647\r\n$1\r\na\r\n",
      "*1\r\n$536870912\r\nabc",
      "*x\r\n",
      "*2\r\n$3\r\nGET\r\n:1\r\n",
      "*1\r\n$-1\r\n",
      "PING\r\n\"unbalanced\r\n",
      "*1\r\n\r\n$4\r\n",
  };
  return corpus;
}

}  // namespace

TEST_CASE("parser: multibulk requests") {
  CHECK(CommandOf("*1\r\n$4\r\nPING\r\n") == std::vector<std::string>{"PING"});
  CHECK(CommandOf("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$12\r\n0123456789\r\n\r\n") ==
        std::vector<std::string>{"SET", "", "0123456789\r\n"});
  const std::vector<std::string> many(3000, "x");
  CHECK(CommandOf(RequestText(many)) == many);
  const std::vector<std::string> binary{"\0\r\n$\xff"s, std::string(100000, '\n')};
  CHECK(CommandOf(RequestText(binary)) == binary);
}

TEST_CASE("parser: requests without arguments are delivered empty") {
  for (const char* request :
       {"*0\r\n", "*-1\r\n", "*-10\r\n", "*-9223372036854775808\r\n", "\r\n", "\n", "  \t\r\n"}) {
    INFO(request);
    CHECK(CommandOf(request).empty());
  }
}

TEST_CASE("parser: line ends are not compared, as in Redis") {
  CHECK(CommandOf("*1\rx$4\rxPINGxx") == std::vector<std::string>{"PING"});
  CHECK(Feed("*1\n$4\nPING\n", {}).left_over == 11);
}

TEST_CASE("parser: inline requests") {
  using Words = std::vector<std::string>;
  CHECK(CommandOf("PING\r\n") == Words{"PING"});
  CHECK(CommandOf("PING\r\r\n") == Words{"PING"});
  CHECK(CommandOf("  SET \t key  value \n") == Words{"SET", "key", "value"});
  CHECK(CommandOf("\vECHO\va\tb \f \r\n") == Words{"ECHO\va", "b"});
  CHECK(CommandOf("ECHO a\\nb\r\n") == Words{"ECHO", "a\\nb"});
  CHECK(CommandOf("\"PI\\x4eG\"\r\n") == Words{"PING"});
  CHECK(CommandOf("ECHO \"\" ''\r\n") == Words{"ECHO", "", ""});
  CHECK(CommandOf("ECHO \"a\\n\\r\\t\\b\\a\\q\\x4\\\"'\"\r\n") ==
        Words{"ECHO", "a\n\r\t\b\aqx4\"'"});
  CHECK(CommandOf("ECHO 'a\\n\\'\"'\r\n") == Words{"ECHO", "a\\n'\""});
  CHECK(CommandOf("P\"IN\"\r\n") == Words{"PIN"});
  CHECK(CommandOf("\"\\xFf\\X41\"\r\n") == Words{"\xff"
                                                 "X41"});
  Words many{"ECHO"};
  std::string line = "ECHO";
  for (int i = 0; i < 5000; ++i) {
    many.push_back(std::to_string(i));
    line += ' ' + many.back();
  }
  CHECK(CommandOf(line + "\r\n") == many);
}

TEST_CASE("parser: unbalanced quotes") {
  for (const char* line :
       {"\"PING\r\n", "'PING\r\n", "\"PING\"x\r\n", "'PING'x\r\n", "P\"IN\"G\r\n",
        "ECHO \"\\\"\r\n", "ECHO \"\\\n", "ECHO '\\'\r\n", "\"a\"\"b\"\r\n"}) {
    INFO(line);
    CHECK(ErrorOf(line) == "Protocol error: unbalanced quotes in request");
  }
}

TEST_CASE("parser: error texts of a count") {
  for (const char* request :
       {"*x\r\n", "*\r\n", "*+1\r\n", "*01\r\n", "*-0\r\n", "*--1\r\n", "* 1\r\n", "*1 \r\n",
        "*-01\r\n", "*2147483648\r\n", "*9223372036854775807\r\n", "*-9223372036854775809\r\n",
        "*18446744073709551617\r\n"}) {
    INFO(request);
    CHECK(ErrorOf(request) == "Protocol error: invalid multibulk length");
  }
  CHECK(Feed("*2147483647\r\n", {}).error.empty());
}

TEST_CASE("parser: error texts of a bulk") {
  for (const char* bulk : {"$-1\r\n", "$x\r\n", "$\r\n", "$04\r\nPING\r\n", "$+4\r\n", "$00\r\n",
                           "$536870913\r\n", "$9223372036854775808\r\n"}) {
    INFO(bulk);
    CHECK(ErrorOf("*1\r\n"s + bulk) == "Protocol error: invalid bulk length");
  }
  CHECK(Feed("*1\r\n$536870912\r\n", {}).error.empty());
  CHECK(ErrorOf("*1\r\nx4\r\nPING\r\n") == "Protocol error: expected '$', got 'x'");
  CHECK(ErrorOf("*2\r\n$1\r\na\r\n*1\r\n") == "Protocol error: expected '$', got '*'");
  CHECK(ErrorOf("*1\r\n\r\n$4\r\n") == "Protocol error: expected '$', got '\r'");
}

TEST_CASE("parser: too long lines") {
  const std::string at_limit(65535, '1');
  CHECK(Feed("1" + at_limit, {}).error.empty());
  CHECK(ErrorOf("11" + at_limit) == "Protocol error: too big inline request");
  CHECK(Feed("1" + at_limit + "\n", {}).commands.size() == 1);
  CHECK(ErrorOf("11" + at_limit + "\n") == "Protocol error: too big inline request");
  CHECK(Feed("*" + at_limit, {}).error.empty());
  CHECK(ErrorOf("*1" + at_limit) == "Protocol error: too big mbulk count string");
  CHECK(Feed("*1\r\n$" + at_limit, {}).error.empty());
  CHECK(ErrorOf("*1\r\n$1" + at_limit) == "Protocol error: too big bulk count string");
}

TEST_CASE("parser: limits before authentication, and changed ones") {
  const ParserLimits strict{.authenticated = false};
  CHECK(ErrorOf("*11\r\n", strict) == "Protocol error: unauthenticated multibulk length");
  CHECK(ErrorOf("*2147483648\r\n", strict) == "Protocol error: invalid multibulk length");
  CHECK(ErrorOf("*1\r\n$16385\r\n", strict) == "Protocol error: unauthenticated bulk length");
  CHECK(ErrorOf("*1\r\n$536870913\r\n", strict) == "Protocol error: invalid bulk length");
  CHECK(Feed(RequestText(std::vector<std::string>(10, "x")), {}, strict).commands.size() == 1);
  CHECK(Feed(RequestText({std::string(16384, 'x')}), {}, strict).commands.size() == 1);
  CHECK(ErrorOf(RequestText(std::vector<std::string>(11, "x")), strict) ==
        "Protocol error: unauthenticated multibulk length");

  const ParserLimits small{.max_args = 2, .max_bulk = 3, .max_inline = 64};
  CHECK(ErrorOf(RequestText({"a", "b", "c"}), small) == "Protocol error: invalid multibulk length");
  CHECK(ErrorOf(RequestText({"abcd"}), small) == "Protocol error: invalid bulk length");
  CHECK(ErrorOf("PING" + std::string(61, ' ') + "\n", small) ==
        "Protocol error: too big inline request");

  RequestParser parser(strict);
  const std::string request = RequestText(std::vector<std::string>(11, "x"));
  parser.set_limits({});
  CHECK(parser.Next(request) == ParseStatus::kCommand);
  // A line that was searched further than the new limit allows.
  const std::string line(100, 'a');
  CHECK(parser.Next(line) == ParseStatus::kNeedMore);
  parser.set_limits(small);
  CHECK(parser.Next(line + "\n") == ParseStatus::kError);

  // However small the limit, a length line fits.
  const ParserLimits tiny{.max_inline = 1};
  const std::string set = RequestText({"SET", "key", std::string(1000, 'v')});
  CHECK(Feed(set, {}, tiny).commands.size() == 1);
  CHECK(Feed(set, {1, 2, 3, 30, 1000}, tiny) == Feed(set, {}, tiny));
}

TEST_CASE("parser: an error is final") {
  RequestParser parser;
  REQUIRE(parser.Next("*x\r\n") == ParseStatus::kError);
  CHECK(parser.args().empty());
  CHECK(parser.consumed() == 0);
  CHECK(parser.Next("PING\r\n") == ParseStatus::kError);
  CHECK(parser.error() == "Protocol error: invalid multibulk length");
}

TEST_CASE("parser: every message cut at every byte, and byte by byte, parses the same") {
  for (const std::string& message : Corpus()) {
    INFO(message);
    const Transcript whole = Feed(message, {});
    std::vector<size_t> every;
    for (size_t cut = 1; cut < message.size(); ++cut) {
      INFO("cut at " << cut);
      CHECK(Feed(message, {cut}) == whole);
      CHECK(Feed(message, {cut}, {}, true) == whole);
      every.push_back(cut);
    }
    CHECK(Feed(message, every) == whole);
  }
}

TEST_CASE("parser: random pipelines in random pieces") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 300; ++round) {
    std::string stream;
    std::vector<std::vector<std::string>> expected;
    for (uint64_t commands = random.Between(1, 20); commands > 0; --commands) {
      std::vector<std::string> args(random.Between(1, random.OneIn(10) ? 200 : 5));
      for (std::string& arg : args) {
        arg.resize(random.Below(random.OneIn(20) ? 5000 : 20));
        for (char& c : arg) c = static_cast<char>(random.Below(256));
      }
      stream += RequestText(args);
      expected.push_back(std::move(args));
    }
    std::vector<size_t> cuts;
    for (size_t at = random.Below(300); at < stream.size(); at += 1 + random.Below(1000)) {
      cuts.push_back(at);
    }
    for (const bool in_batches : {false, true}) {
      const Transcript result = Feed(stream, cuts, {}, in_batches);
      REQUIRE(result.commands == expected);
      REQUIRE(result.left_over == 0);
    }
  }
}

TEST_CASE("parser: a batch is of whole requests, and ends before a large number of arguments") {
  RequestParser parser;
  const std::string get = RequestText({"GET", "a"});
  REQUIRE(parser.NextBatch(get + get + get.substr(0, 9)) == ParseStatus::kCommand);
  CHECK(parser.requests().size() == 2);
  REQUIRE(parser.NextBatch(get + "PING\r\n" + get) == ParseStatus::kCommand);
  CHECK(parser.requests().size() == 1);
  std::string many;
  for (int i = 0; i < 100; ++i) many += get;
  REQUIRE(parser.NextBatch(many) == ParseStatus::kCommand);
  CHECK(parser.requests().size() == RequestParser::kMaxBatch);
  const std::string large = RequestText(std::vector<std::string>(500, "x"));
  const std::string larger = large + large;
  REQUIRE(parser.NextBatch(larger) == ParseStatus::kCommand);
  CHECK(parser.requests().size() == 1);
}

TEST_CASE("parser: declared lengths take no memory, received bytes a bounded amount") {
  RequestParser parser;
  const size_t at_rest = parser.memory_usage();
  REQUIRE(parser.Next("*2147483647\r\n") == ParseStatus::kNeedMore);
  REQUIRE(parser.Next("*2147483647\r\n$536870912\r\n") == ParseStatus::kNeedMore);
  CHECK(parser.memory_usage() == at_rest);

  std::string stream = "*2147483647\r\n";
  for (int i = 0; i < 10000; ++i) stream += "$0\r\n\r\n";
  RequestParser other;
  REQUIRE(other.Next(stream) == ParseStatus::kNeedMore);
  CHECK(other.memory_usage() < stream.size() * 8);
}

TEST_CASE("parser: the memory of a large request is given back with the next") {
  for (const std::string& large :
       {RequestText(std::vector<std::string>(20000, "x")), std::string(40000, ' ') + "'a' \"b\"\n",
        "'" + std::string(60000, 'x') + "'\n"}) {
    RequestParser parser;
    REQUIRE(parser.Next(large.substr(0, large.size() - 1)) == ParseStatus::kNeedMore);
    REQUIRE(parser.Next(large) == ParseStatus::kCommand);
    REQUIRE(parser.Next("PING\n") == ParseStatus::kCommand);
    CHECK(parser.memory_usage() < 20000);
  }
}

TEST_CASE("parser: wanted() is what is missing of a bulk") {
  RequestParser parser;
  CHECK(parser.Next("") == ParseStatus::kNeedMore);
  CHECK(parser.wanted() == 1);
  CHECK(parser.Next("*2\r\n$10\r\n012") == ParseStatus::kNeedMore);
  CHECK(parser.wanted() == 9);
  CHECK(parser.Next("*2\r\n$10\r\n0123456789\r") == ParseStatus::kNeedMore);
  CHECK(parser.wanted() == 1);
  CHECK(parser.Next("*2\r\n$10\r\n0123456789\r\n") == ParseStatus::kNeedMore);
  CHECK(parser.wanted() == 1);
  CHECK(parser.Next("*2\r\n$10\r\n0123456789\r\n$1\r\na\r\n") == ParseStatus::kCommand);
  CHECK(std::vector<std::string>(parser.args().begin(), parser.args().end()) ==
        std::vector<std::string>{"0123456789", "a"});
}

}  // namespace tally::server::parser_test
