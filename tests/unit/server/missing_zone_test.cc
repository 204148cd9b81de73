// Files that name a time zone which the tzdata of this machine lacks.
#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/bytes/str_cat.h"
#include "fake_file_system.h"
#include "tests/unit/server/durable_server.h"

namespace tally::server::missing_zone_test {
namespace {

using test::FakeFileSystem;

constexpr int64_t kNow = 1'700'000'000'000;

// A command as a machine that has the zone would have logged it.
void Log(DurableServer& server, const std::string& line) {
  CommandHarness& harness = server.harness();
  const std::vector<std::string> texts = absl::StrSplit(line, ' ');
  const std::vector<std::string_view> words(texts.begin(), texts.end());
  const CommandEntry* entry = harness.commands.Resolve(words);
  REQUIRE(entry != nullptr);
  harness.self->output.Clear();
  harness.dispatcher.Replay(*harness.self, *entry, words);
  harness.state.effects.Append(0, words);  // what is replayed is not logged by itself
  INFO(harness.self->output.Joined());
  REQUIRE(harness.self->output.Copy(0, 1) != "-");
  REQUIRE(server.persistence().FlushTurn().ok());
}

void CheckAnswers(DurableServer& server) {
  // What the zone is needed for is refused, with its name; nothing else is.
  for (const char* line :
       {"ACTIVE.TOUCH page cid", "ACTIVE.DAY page", "ACTIVE.PEAK page",
        "ACTIVE.USERS page FROM 2023-11-01 TO 2023-11-30", "LIMIT.TAKE user POLICY p",
        "POLICY.SET q CALENDAR 3 day TZ Mars/Phobos", "ACTIVE.CREATE other TZ Mars/Phobos"}) {
    INFO(line);
    const std::string reply = server.Run(line);
    CHECK(reply.starts_with("-ERR"));
    CHECK(reply.find("'Mars/Phobos'") != std::string::npos);
  }
  CHECK(server.Run("ACTIVE.ONLINE page") == ":2");
  CHECK(server.Run("POLICY.GET p") == "[\"CALENDAR\" \"3\" \"day\" \"TZ\" \"Mars/Phobos\"]");
  CHECK(server.Run("LIMIT.TAKE user FIXED 3 60s").starts_with("[:1"));
  CHECK(server.Run("LIMIT.RESET user") == ":1");
}

TEST_CASE("A zone that tzdata lacks stops no start, is kept, and is named where it is needed") {
  FakeFileSystem files;
  {
    DurableServer server(files, {}, kNow);
    Log(server, "ACTIVE.CREATE page WINDOW 300s TZ Mars/Phobos KEEP 10d");
    Log(server, StrCat("ACTIVE.TOUCH page ann bob AT ", kNow / 1000));
    Log(server, "POLICY.SET p CALENDAR 3 day TZ Mars/Phobos");
    Log(server, StrCat("LIMIT.FORCE user CALENDAR 3 day TZ Mars/Phobos COST 1 AT ", kNow / 1000));
  }
  for (const char* from : {"log", "base", "base again"}) {
    INFO(from);
    DurableServer server(files, {}, kNow);
    CheckAnswers(server);
    server.Run("BGREWRITEAOF");
    while (server.rewriting()) {
      REQUIRE(server.persistence().FlushTurn().ok());
      std::this_thread::yield();
    }
  }
}

}  // namespace
}  // namespace tally::server::missing_zone_test
