// What a replica sends to a primary, and what it makes of the answers.
#include "server/replication/primary_handshake.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"

namespace tally::server::primary_handshake_test {
namespace {

using Answer = PrimaryHandshake::Answer;

const std::string kHistory(40, 'a');
const std::string kOther(40, 'b');

// The words of a request, parted by blanks.
std::string Words(std::string_view bytes) {
  std::string words;
  while (!bytes.empty()) {
    const size_t end = bytes.find("\r\n");
    if (bytes.front() != '*' && bytes.front() != '$') {
      StrAppend(words, words.empty() ? "" : " ", bytes.substr(0, end));
    }
    bytes.remove_prefix(end + 2);
  }
  return words;
}

// Answers each request; the last answer is for PSYNC.
struct Talk {
  std::vector<std::string> sent;
  absl::StatusOr<Answer> answer = Answer::kNotYet;
  PrimaryHandshake::From from;
};

Talk Converse(const PrimaryHandshake::Request& request, const std::vector<std::string>& answers) {
  PrimaryHandshake handshake(request);
  Talk talk;
  talk.sent.push_back(Words(handshake.First()));
  for (const std::string& line : answers) {
    std::string out;
    talk.answer = handshake.Take(line, out);
    if (!out.empty()) talk.sent.push_back(Words(out));
    if (!talk.answer.ok() || *talk.answer != Answer::kNotYet) break;
  }
  talk.from = handshake.from();
  return talk;
}

TEST_CASE("handshake: all that a replica without data asks", "[replica]") {
  const std::string full = StrCat("+FULLRESYNC ", kHistory, " 42");
  const Talk talk = Converse({.user = "copier",
                              .password = "pass word",
                              .listening_port = 6379,
                              .announced_ip = "10.0.0.9"},
                             {"+PONG", "+OK", "+OK", "+OK", "+OK", "+OK", "", "", full});
  CHECK(talk.sent == std::vector<std::string>{"PING", "AUTH copier pass word",
                                              "REPLCONF listening-port 6379",
                                              "REPLCONF ip-address 10.0.0.9",
                                              "REPLCONF capa eof capa psync2 capa tallyd",
                                              "REPLCONF version 9.1.0", "PSYNC ? -1"});
  REQUIRE(talk.answer.ok());
  CHECK(*talk.answer == Answer::kFullSync);
  CHECK(talk.from.replid == kHistory);
  CHECK(talk.from.offset == 42);
}

TEST_CASE("handshake: what is there goes on under its name, or another", "[replica]") {
  const PrimaryHandshake::Request request{.listening_port = 1,
                                          .from = PrimaryHandshake::From{kHistory, 99}};
  const std::string unknown = "-ERR Unrecognized REPLCONF option: version";
  for (const auto& [line, name] : std::vector<std::pair<std::string, std::string>>{
           {"+CONTINUE", kHistory}, {"+CONTINUE " + kOther, kOther}}) {
    const Talk talk =
        Converse(request, {"-NOAUTH Authentication required.", "+OK", "+OK", unknown, line});
    CHECK(talk.sent.back() == StrCat("PSYNC ", kHistory, " 100"));
    REQUIRE(talk.answer.ok());
    CHECK(*talk.answer == Answer::kContinue);
    CHECK(talk.from.replid == name);
    CHECK(talk.from.offset == 99);
  }
}

TEST_CASE("handshake: what may become better is told from what will not", "[replica]") {
  const PrimaryHandshake::Request plain{.listening_port = 1};
  const auto code = [&](const std::vector<std::string>& answers) {
    return Converse(plain, answers).answer.status().code();
  };
  const std::vector<std::string> first = {"+PONG", "+OK", "+OK", "+OK"};
  const auto at_sync = [&](const std::string& line) {
    std::vector<std::string> answers = first;
    answers.push_back(line);
    return code(answers);
  };
  constexpr auto kLater = absl::StatusCode::kUnavailable;
  constexpr auto kNever = absl::StatusCode::kFailedPrecondition;
  CHECK(code({"-LOADING Redis is loading the dataset in memory"}) == kLater);
  CHECK(code({"-MASTERDOWN Link with MASTER is down"}) == kLater);
  CHECK(at_sync("-NOMASTERLINK Can't SYNC while not connected with my master") == kLater);
  CHECK(at_sync("-LOADING x") == kLater);
  CHECK(code({"HTTP/1.1 400 Bad Request"}) == kNever);
  CHECK(code({"-ERR something else"}) == kNever);
  CHECK(code({"+PONG", "*3"}) == kNever);
  CHECK(code({""}) == kNever);
  // There is nothing here from which anything could go on.
  CHECK(at_sync("+CONTINUE") == kNever);
  for (const std::string& line :
       {std::string("+FULLRESYNC"), StrCat("+FULLRESYNC ", kHistory),
        StrCat("+FULLRESYNC ", kHistory, " -1"), StrCat("+FULLRESYNC ", kHistory, " 1 2"),
        StrCat("+FULLRESYNC ", kHistory, " 9223372036854775808"),
        std::string("+FULLRESYNC short 1"), StrCat("+FULLRESYNC ", std::string(40, 'z'), " 1"),
        std::string("-ERR unknown command"), std::string("+OK")}) {
    INFO(line);
    CHECK(at_sync(line) == kNever);
  }
  const Talk refused =
      Converse({.password = "p", .listening_port = 1},
               {"-NOAUTH Authentication required.", "-WRONGPASS invalid username-password pair"});
  CHECK(refused.answer.status().message().find("WRONGPASS") != std::string::npos);
}

}  // namespace
}  // namespace tally::server::primary_handshake_test
