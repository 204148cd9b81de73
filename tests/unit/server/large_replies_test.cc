// A reply holds a long value without a copy, and stays as it was when the value changes or goes
// before it is sent.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"
#include "tests/unit/server/command_harness.h"

namespace tally::server::large_replies_test {
namespace {

using Words = CommandHarness::Words;

constexpr size_t kLong = 300'000;

std::string Value() {
  std::string value(kLong, ' ');
  for (size_t i = 0; i < kLong; ++i) value[i] = static_cast<char>('a' + i % 26);
  return value;
}

std::string Bulk(std::string_view text) { return StrCat("$", text.size(), "\r\n", text, "\r\n"); }

void Execute(CommandHarness& server, Client& client, const Words& words) {
  const std::vector<std::string_view> args(words.begin(), words.end());
  REQUIRE(server.dispatcher.Execute(client, args));
}

bool Holds(const ByteBlocks& output, const char* bytes) {
  std::vector<std::string_view> pieces(output.pieces());
  output.Front(pieces);
  return std::any_of(pieces.begin(), pieces.end(),
                     [&](std::string_view piece) { return piece.data() == bytes; });
}

}  // namespace

TEST_CASE("replies: a long string is not copied, and outlives each change of the value",
          "[replies]") {
  const std::string value = Value();
  const std::vector<Words> readers{{"GET", "k"},
                                   {"MGET", "k", "k", "none"},
                                   {"GETRANGE", "k", "0", "-1"},
                                   {"GETRANGE", "k", "100", "200099"},
                                   {"GETEX", "k", "PERSIST"},
                                   {"GETDEL", "k"},
                                   {"GETSET", "k", "other"},
                                   {"SET", "k", "other", "GET"}};
  const std::vector<std::string> replies{
      Bulk(value), StrCat("*3\r\n", Bulk(value), Bulk(value), "$-1\r\n"),
      Bulk(value), Bulk(value.substr(100, 200'000)),
      Bulk(value), Bulk(value),
      Bulk(value), Bulk(value)};
  const std::vector<Words> changes{{"APPEND", "k", "more"},
                                   {"APPEND", "k", std::string(kLong, 'm')},
                                   {"SETRANGE", "k", "5", "changed"},
                                   {"SETRANGE", "k", StrCat(kLong), "longer"},
                                   {"SETBIT", "k", "80", "1"},
                                   {"SETBIT", "k", "80", "0"},
                                   {"BITFIELD", "k", "SET", "u8", "0", "1"},
                                   {"SET", "k", "short"},
                                   {"DEL", "k"},
                                   {"UNLINK", "k"},
                                   {"EXPIRE", "k", "-1"},
                                   {"RENAME", "k", "other"},
                                   {"COPY", "k", "copy"},
                                   {"FLUSHALL"}};
  for (size_t reader = 0; reader < readers.size(); ++reader) {
    for (const Words& change : changes) {
      INFO(readers[reader][0] << " " << change[0]);
      CommandHarness server;
      server.StopEffects();
      server.Run({"SET", "k", value});
      const char* const bytes = server.engine.database(0).Peek("k", server.now()).bytes().data();
      Client* const client = server.Connect();
      Execute(server, *client, readers[reader]);
      const bool from_begin = readers[reader].size() < 3 || readers[reader][2] != "100";
      CHECK(Holds(client->output, from_begin ? bytes : bytes + 100));
      for (int i = 0; i < 3; ++i) server.Run(change);
      while (!server.engine.reclaimer().empty()) server.engine.reclaimer().FreeSome(100);
      // Others take the memory that is free now.
      for (int i = 0; i < 4; ++i) server.Run({"SET", StrCat("x", i), std::string(kLong, 'x')});
      CHECK((client->output.Joined() == replies[reader]));
    }
  }
}

TEST_CASE("replies: a value that is being sent is changed as any other", "[replies]") {
  CommandHarness server;
  server.StopEffects();
  server.Run({"SET", "k", Value()});
  Client* const client = server.Connect();
  Execute(server, *client, {"GET", "k"});
  std::string expected = Value();
  server.Run({"SETRANGE", "k", "5", "changed"});
  expected.replace(5, 7, "changed");
  server.Run({"APPEND", "k", "more"});
  expected += "more";
  CHECK((server.Wire(*server.self, {"GET", "k"}) == Bulk(expected)));
}

}  // namespace tally::server::large_replies_test
