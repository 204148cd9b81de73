// A replica of a Redis applies its stream: cut at every byte, with what has no meaning here, with
// what fails, and with keys whose deadlines have passed.
#include "server/replication/stream_follower.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/server/command_harness.h"

namespace tally::server::stream_follower_test {
namespace {

const std::string kHistory(40, 'a');

std::string Stream(const std::vector<std::vector<std::string>>& commands) {
  std::string stream;
  for (const auto& words : commands) {
    AppendRespCommand(stream, std::vector<std::string_view>(words.begin(), words.end()));
  }
  return stream;
}

StreamFollower::Parts PartsOf(CommandHarness& h) {
  return {h.engine, h.commands, h.dispatcher, h.config, h.state.services.log};
}

// Applies all that is there.
absl::Status ApplyAll(StreamFollower& follower) {
  while (true) {
    const auto more = follower.Apply(1000);
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
  }
}

TEST_CASE("follower: a stream that is cut at every byte", "[replica]") {
  const std::string first = Stream({{"SELECT", "3"}, {"SET", "k", "1"}, {"PING"}});
  const std::string whole = Stream({{"MULTI"}, {"INCR", "k"}, {"INCR", "k"}, {"EXEC"}});
  const std::string last = Stream({{"SADD", "s", "a"}, {"REPLCONF", "GETACK", "*"}});
  const std::string all = first + whole + last;
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    INFO("cut at " << cut);
    CommandHarness h;
    StreamFollower follower(PartsOf(h), {kHistory, 100, 0});
    follower.Take(std::string_view(all).substr(0, cut));
    REQUIRE(ApplyAll(follower).ok());
    const UpstreamPosition position = follower.position();
    // Nothing of a transaction is in the data before all of it is.
    const uint64_t applied = position.offset - 100;
    REQUIRE((applied <= first.size() || applied >= first.size() + whole.size()));
    REQUIRE(applied <= cut);
    if (applied >= first.size() && applied < first.size() + whole.size()) {
      h.Run("SELECT 3");
      REQUIRE(h.Run("GET k") == "\"1\"");
    }
    // The link breaks: what is not in the data comes again.
    StreamFollower next(PartsOf(h), position);
    next.Take(std::string_view(all).substr(applied));
    REQUIRE(ApplyAll(next).ok());
    REQUIRE(next.offset() == 100 + all.size());
    REQUIRE(next.position().database == 3);
    REQUIRE((follower.TakeAckRequest() != next.TakeAckRequest()));
    REQUIRE_FALSE(next.TakeAckRequest());
    h.Run("SELECT 3");
    REQUIRE(h.Run("GET k") == "\"3\"");
    const auto effects = h.Effects();
    REQUIRE(effects ==
            std::vector<std::string>{"SELECT 3", "SET k 1", "INCR k", "INCR k", "SADD s a"});
  }
}

TEST_CASE("follower: what has no meaning here stops it, and nothing after it is applied",
          "[replica]") {
  for (const bool in_transaction : {false, true}) {
    CommandHarness h;
    const std::string before = Stream({{"SELECT", "0"}, {"SET", "before", "1"}});
    std::vector<std::vector<std::string>> rest = {{"SET", "with", "1"},
                                                  {"XADD", "events", "*", "f", "1"}};
    if (in_transaction) rest.insert(rest.begin(), {"MULTI"});
    StreamFollower follower(PartsOf(h), {kHistory, 0, 0});
    follower.Take(before + Stream(rest) + Stream({{"SET", "after", "1"}}));
    const absl::Status status = ApplyAll(follower);
    CHECK(absl::IsUnimplemented(status));
    CHECK(status.message().find("xadd") != std::string::npos);
    CHECK(h.Run("EXISTS before") == ":1");
    CHECK(h.Run("EXISTS with") == (in_transaction ? ":0" : ":1"));
    CHECK(h.Run("EXISTS after") == ":0");
    // It is at the same place when it is tried again.
    StreamFollower again(PartsOf(h), follower.position());
    again.Take(Stream({{"XADD", "events", "*", "f", "1"}}));
    CHECK(absl::IsUnimplemented(ApplyAll(again)));
    CHECK(again.position() == follower.position());
  }
}

TEST_CASE("follower: or is left out and counted", "[replica]") {
  Config config;
  config.replica_unknown_command = UnknownCommand::kSkip;
  CommandHarness h(config);
  const std::string stream = Stream({{"SELECT", "0"},
                                     {"XADD", "events", "*", "f", "1"},
                                     {"SET", "k", "1"},
                                     {"HPEXPIREAT", "h", "9999999999999", "FIELDS", "1", "f"},
                                     {"RPUSH", "k", "1"},
                                     {"EVAL", "return 1", "0"},
                                     {"SET", "after", "1"}});
  StreamFollower follower(PartsOf(h), {kHistory, 0, 0});
  follower.Take(stream);
  REQUIRE(ApplyAll(follower).ok());
  // Deadlines of fields are no commands then.
  CHECK(follower.skipped() == 3);
  CHECK(follower.offset() == stream.size());
  CHECK(h.Run("MGET k after") == "[\"1\" \"1\"]");
}

TEST_CASE("follower: after a command that fails the data is of no position", "[replica]") {
  CommandHarness h;
  StreamFollower follower(PartsOf(h), {kHistory, 0, 0});
  follower.Take(Stream({{"SET", "k", "text"}, {"INCR", "k"}}));
  CHECK(absl::IsAborted(ApplyAll(follower)));
}

TEST_CASE("follower: a database that is not here, and transactions that do not fit", "[replica]") {
  for (const auto& commands : std::vector<std::vector<std::vector<std::string>>>{
           {{"SELECT", "99"}}, {{"MULTI"}, {"MULTI"}}, {{"EXEC"}}}) {
    CommandHarness h;
    StreamFollower follower(PartsOf(h), {kHistory, 7, 0});
    follower.Take(Stream(commands));
    const absl::Status status = ApplyAll(follower);
    CHECK_FALSE(status.ok());
    CHECK_FALSE(absl::IsAborted(status));
    CHECK(follower.offset() == 7);
  }
}

TEST_CASE("follower: only the primary says when keys end", "[replica]") {
  CommandHarness h;
  h.engine.set_expiry(Expiry::kHide);
  const std::string past = StrCat(h.now() - 1000);
  StreamFollower follower(PartsOf(h), {kHistory, 0, 0});
  follower.Take(Stream({{"SET", "k", "1", "PXAT", past}}));
  REQUIRE(ApplyAll(follower).ok());
  CHECK(h.Run("GET k") == "nil");
  CHECK(h.Run("DBSIZE") == ":1");
  // The primary's clock is behind: for it the key is there.
  follower.Take(Stream({{"INCR", "k"}, {"PEXPIREAT", "k", StrCat(h.now() + 1000)}}));
  REQUIRE(ApplyAll(follower).ok());
  CHECK(h.Run("GET k") == "\"2\"");
  h.ExpireDue();
  follower.Take(Stream({{"DEL", "k"}}));
  REQUIRE(ApplyAll(follower).ok());
  CHECK(h.Run("DBSIZE") == ":0");
  CHECK(h.engine.expiry() == Expiry::kHide);
}

TEST_CASE("position: the note of a log", "[replica]") {
  for (const UpstreamPosition& position : {UpstreamPosition{}, UpstreamPosition{kHistory, 0, 0},
                                           UpstreamPosition{kHistory, INT64_MAX, 15}}) {
    std::string note;
    position.AppendNote(note);
    RedisStreamReader reader(1000);
    reader.Take(note);
    REQUIRE(*reader.Next());
    const auto read = UpstreamPosition::ReadNote(reader.args());
    REQUIRE(read.ok());
    CHECK(*read == position);
  }
  using Words = std::vector<std::string_view>;
  for (const Words& words :
       {Words{"REPLCONF"}, Words{"REPLCONF", "UPSTREAM"}, Words{"REPLCONF", "OTHER", "none"},
        Words{"REPLCONF", "UPSTREAM", kHistory, "1"}, Words{"REPLCONF", "UPSTREAM", "x", "1", "0"},
        Words{"REPLCONF", "UPSTREAM", kHistory, "-1", "0"},
        Words{"REPLCONF", "UPSTREAM", kHistory, "1", "x"}}) {
    CHECK(absl::IsDataLoss(UpstreamPosition::ReadNote(words).status()));
  }
}

}  // namespace
}  // namespace tally::server::stream_follower_test
