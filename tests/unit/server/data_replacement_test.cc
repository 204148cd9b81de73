// Other data takes the place of what a server has: with a crash or a fault at each call on the way,
// the next start has all of the one or all of the other.
#include <catch2/catch.hpp>
#include <string>

#include "durable_server.h"
#include "fake_file_system.h"
#include "random_seed.h"
#include "tests/unit/server/rdb_bytes.h"

namespace tally::server::data_replacement_test {
namespace {

using rdb::test::Byte;
using rdb::test::File;
using rdb::test::Str;
using test::FakeFileSystem;
using test::SeededRandom;
using Fault = FakeFileSystem::Fault;
using Loss = FakeFileSystem::Loss;

constexpr const char* kPath = "temp.rdb";
constexpr int64_t kStart = 1'700'000'000'000;

std::string Sent() {
  return File("REDIS0010", Byte(0) + Str("a") + Str("new") + Byte(0) + Str("b") + Str("new"));
}

void Fill(DurableServer& server) {
  server.Run("SET a old");
  server.Run("SET only-old 1");
}

bool IsOld(DurableServer& server) {
  return server.Run("GET a") == "\"old\"" && server.Run("DBSIZE") == ":2" &&
         server.Run("EXISTS only-old") == ":1";
}

bool IsNew(DurableServer& server) {
  return server.Run("GET a") == "\"new\"" && server.Run("GET b") == "\"new\"" &&
         server.Run("DBSIZE") == ":2";
}

const std::string kOldId(StreamId::kDigits, '1');
const std::string kNewId(StreamId::kDigits, '2');

// Goes on for some turns, or until all is in place. The new data is that of another history.
void Replace(DurableServer& server, int turns) {
  if (!server.persistence().BeginReplacing(kPath, {.keep_expired = true}).ok()) return;
  server.harness().state.stream_id.Adopt(kNewId);
  for (; turns > 0 && server.persistence().replacing(); --turns) {
    if (!server.persistence().LoadSlice(INT64_MAX).ok()) return;
    server.persistence().FlushTurn().IgnoreError();
  }
}

TEST_CASE("replacement: all of the new data, which the log continues", "[replica]") {
  FakeFileSystem files;
  files.Put(kPath, Sent());
  {
    DurableServer server(files, Config(), kStart);
    Fill(server);
    Replace(server, 1000);
    REQUIRE_FALSE(server.persistence().replacing());
    CHECK(server.persistence().replaced().ok());
    CHECK(IsNew(server));
    server.Run("SET later 1");
  }
  DurableServer again(files, Config(), kStart);
  CHECK(again.Run("GET later") == "\"1\"");
  CHECK(again.Run("DEL later") == ":1");
  CHECK(IsNew(again));
}

TEST_CASE("replacement: data that turns out wrong leaves the old data", "[replica]") {
  for (const std::string& wrong :
       {Sent().substr(0, Sent().size() - 12), Sent() + "more", std::string("REDIS0010\x63")}) {
    FakeFileSystem files;
    files.Put(kPath, wrong);
    {
      DurableServer server(files, Config(), kStart);
      Fill(server);
      Replace(server, 1000);
      REQUIRE_FALSE(server.persistence().replacing());
      CHECK_FALSE(server.persistence().replaced().ok());
      CHECK(IsOld(server));
      server.Run("SET a later");
    }
    DurableServer again(files, Config(), kStart);
    CHECK(again.Run("GET a") == "\"later\"");
  }
}

TEST_CASE("replacement: after a crash at any call it is the one or the other", "[replica]") {
  SeededRandom random;
  for (const Loss loss : {Loss::kProcessOnly, Loss::kDrop, Loss::kTear}) {
    bool seen_old = false;
    bool seen_new = false;
    for (uint64_t call = 0;; ++call) {
      INFO("call " << call << ", loss " << int(loss));
      FakeFileSystem files;
      files.Put(kPath, Sent());
      bool whole = false;
      {
        DurableServer server(files, Config(), kStart);
        server.harness().state.stream_id.Adopt(kOldId);
        Fill(server);
        files.FailAfter(call, Fault::kCrash);
        Replace(server, 50);
        whole = !files.crashed() && !server.persistence().replacing();
      }
      files.Restart(loss, random);
      DurableServer again(files, Config(), kStart);
      const bool is_old = IsOld(again);
      // A replica would go on where its history says.
      const std::string& id = again.harness().state.stream_id.id();
      REQUIRE(id != (is_old ? kNewId : kOldId));
      REQUIRE((is_old || IsNew(again)));
      seen_old |= is_old;
      seen_new |= !is_old;
      REQUIRE((!whole || !is_old));
      if (whole) break;
    }
    CHECK(seen_old);
    CHECK(seen_new);
  }
}

TEST_CASE("replacement: a disk that is full for a while delays it", "[replica]") {
  FakeFileSystem files;
  files.Put(kPath, Sent());
  DurableServer server(files, Config(), kStart);
  Fill(server);
  server.harness().state.clock.SetSteady(1000);
  files.LeaveRoom(60);
  Replace(server, 20);
  CHECK(server.persistence().replacing());
  files.LeaveRoom(SIZE_MAX);
  server.harness().state.clock.SetSteady(1'000'000);
  for (int i = 0; i < 100 && server.persistence().replacing(); ++i) {
    REQUIRE(server.persistence().LoadSlice(INT64_MAX).ok());
    server.persistence().FlushTurn().IgnoreError();
    server.persistence().Cron();
  }
  CHECK_FALSE(server.persistence().replacing());
  CHECK(server.persistence().replaced().ok());
  CHECK(IsNew(server));
}

}  // namespace
}  // namespace tally::server::data_replacement_test
