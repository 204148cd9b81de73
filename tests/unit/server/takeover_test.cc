// A server that starts on files of Redis: what it takes over, what it leaves as it was, and a crash
// or a full disk at each call on the way.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "durable_server.h"
#include "fake_file_system.h"
#include "random_seed.h"
#include "server/request_text.h"
#include "tests/unit/server/rdb_bytes.h"

namespace tally::server::takeover_test {
namespace {

using rdb::test::Byte;
using rdb::test::File;
using rdb::test::Len;
using rdb::test::Little;
using rdb::test::Str;
using test::FakeFileSystem;
using test::SeededRandom;
using Fault = FakeFileSystem::Fault;
using Loss = FakeFileSystem::Loss;

constexpr const char* kManifest =
    "file appendonly.aof.1.base.rdb seq 1 type b\n"
    "file appendonly.aof.1.incr.aof seq 1 type i\n"
    "file appendonly.aof.2.incr.aof seq 2 type i startoffset 17\n";

std::string StringKey(std::string_view key, std::string_view value) {
  return Byte(0) + Str(key) + Str(value);
}

std::string Snapshot() {
  return File("REDIS0010", StringKey("a", "1") + Byte(2) + Str("set") + Len(1) + Str("m"));
}

// What Redis has in its folder; `rest` is the end of the log.
void PutLog(FakeFileSystem& files, std::string_view rest = "") {
  files.Put("appendonlydir/appendonly.aof.manifest", kManifest);
  files.Put("appendonlydir/appendonly.aof.1.base.rdb", Snapshot());
  files.Put("appendonlydir/appendonly.aof.1.incr.aof",
            "#TS:1700000000\r\n" + RequestText({"SELECT", "0"}) + RequestText({"SET", "b", "2"}));
  files.Put("appendonlydir/appendonly.aof.2.incr.aof",
            RequestText({"SELECT", "0"}) + RequestText({"MULTI"}) + RequestText({"INCR", "a"}) +
                RequestText({"INCR", "a"}) + RequestText({"EXEC"}) + std::string(rest));
}

Config Quick() {
  Config config;
  config.appendfsync = FsyncPolicy::kAlways;
  config.auto_aof_rewrite_percentage = 0;
  return config;
}

// The error of a start, empty if there was none.
std::string Start(FakeFileSystem& files, Config config = Quick(), MoveOptions options = {}) {
  DurableServer server(files, std::move(config));
  server.persistence().set_move_options(options);
  return std::string(server.Start().message());
}

bool HasLog(DurableServer& server) {
  return server.Run("GET a") == "\"3\"" && server.Run("GET b") == "\"2\"" &&
         server.Run("SISMEMBER set m") == ":1" && server.Run("DBSIZE") == ":3";
}

// Whether each file of `before` is there with the same bytes, perhaps in a folder or under a name
// that says where it comes from.
bool AllKept(const std::map<std::string, std::string>& before,
             const std::map<std::string, std::string>& now) {
  for (const auto& [name, content] : before) {
    const bool kept = std::any_of(now.begin(), now.end(), [&](const auto& file) {
      std::string plain = file.first;
      const size_t aside = plain.find(".from-redis");
      if (aside != std::string::npos) {
        plain.erase(aside, std::min(plain.find('/', aside), plain.size()) - aside);
      }
      return plain == name && file.second == content;
    });
    if (!kept) return false;
  }
  return true;
}

TEST_CASE("takeover: a log of Redis, and then our own", "[rdb]") {
  FakeFileSystem files;
  PutLog(files);
  const auto before = files.Contents();
  {
    DurableServer server(files, Quick());
    REQUIRE(server.Start().ok());
    CHECK(HasLog(server));
    server.Run("SET b later");
  }
  CHECK(AllKept(before, files.Contents()));
  CHECK(files.Contents().contains("appendonlydir.from-redis/appendonly.aof.manifest"));
  DurableServer again(files, Quick());
  REQUIRE(again.Start().ok());
  CHECK(again.Run("GET b") == "\"later\"");
  CHECK(again.Run("GET a") == "\"3\"");
}

TEST_CASE("takeover: which files count", "[rdb]") {
  FakeFileSystem files;
  files.Put("dump.rdb", File("REDIS0010", StringKey("old", "1")));
  files.Put("appendonly.aof",
            Snapshot() + RequestText({"SELECT", "0"}) + RequestText({"INCR", "a"}));
  {
    // A log of Redis before 7.0, with a snapshot in front.
    DurableServer server(files, Quick());
    REQUIRE(server.Start().ok());
    CHECK(server.Run("GET a") == "\"2\"");
    CHECK(server.Run("EXISTS old") == ":0");
  }
  CHECK(files.Contents().contains("appendonly.aof.from-redis"));
  CHECK(files.Contents().contains("dump.rdb"));
  // With data of our own nothing of Redis counts.
  DurableServer again(files, Quick());
  REQUIRE(again.Start().ok());
  CHECK(again.Run("EXISTS old") == ":0");

  FakeFileSystem snapshot;
  snapshot.Put("dump.rdb", Snapshot());
  snapshot.Put("dump.rdb.from-redis", "of an earlier time");
  DurableServer server(snapshot, Quick());
  REQUIRE(server.Start().ok());
  CHECK(server.Run("GET a") == "\"1\"");
  CHECK(snapshot.Contents().at("dump.rdb.from-redis") == "of an earlier time");
  CHECK(snapshot.Contents().at("dump.rdb.from-redis-2") == Snapshot());
}

TEST_CASE("takeover: a torn end is left out, or stops the start", "[rdb]") {
  for (const std::string& rest :
       {RequestText({"SET", "a", "9"}).substr(0, 15),
        RequestText({"MULTI"}) + RequestText({"SET", "a", "9"}), std::string("#TS:17")}) {
    FakeFileSystem files;
    PutLog(files, rest);
    Config strict = Quick();
    strict.aof_load_truncated = false;
    CHECK(Start(files, strict).find("appendonlydir/appendonly.aof.2.incr.aof offset ") == 0);
    DurableServer server(files, Quick());
    REQUIRE(server.Start().ok());
    CHECK(HasLog(server));
  }
}

TEST_CASE("takeover: damage stops the start, with file and offset", "[rdb]") {
  const auto error = [](const std::string& path, const std::string& content) {
    FakeFileSystem files;
    PutLog(files);
    files.Put(path, content);
    const auto before = files.Contents();
    std::string said = Start(files);
    CHECK(files.Contents() == before);
    return said;
  };
  const std::string base = "appendonlydir/appendonly.aof.1.base.rdb";
  const std::string log = "appendonlydir/appendonly.aof.1.incr.aof";
  CHECK(error(base, Snapshot().substr(0, 20)).find(base + " offset ") == 0);
  CHECK(error(base, File("REDIS0010", Byte(99) + Str("k"))).find(base + " offset 12: the key k ") ==
        0);
  CHECK(error(log, RequestText({"SET", "b", "2"}) + "+OK\r\n").find(log + " offset 27: ") == 0);
  CHECK(error(log, RequestText({"SET", "b", "2"}).substr(0, 20)).find("another file follows") !=
        std::string::npos);
  CHECK(error(log, RequestText({"EXEC"})).find(log + " offset 0: ") == 0);
  FakeFileSystem snapshot;
  snapshot.Put("dump.rdb", Snapshot() + "more");
  CHECK(Start(snapshot).find("dump.rdb offset ") == 0);
}

TEST_CASE("takeover: what is not known here stops the start, unless it is skipped", "[rdb]") {
  FakeFileSystem files;
  PutLog(files, RequestText({"XADD", "events", "*", "f", "1"}) + RequestText({"LPUSH", "a", "1"}) +
                    RequestText({"HSETEX", "h", "PXAT", "9", "FIELDS", "1", "f", "v"}) +
                    RequestText({"HSETEX", "plain", "KEEPTTL", "FIELDS", "1", "f", "v"}) +
                    RequestText({"SHUTDOWN", "NOSAVE"}));
  const auto before = files.Contents();
  CHECK(Start(files).find("what has no type here") != std::string::npos);
  CHECK(AllKept(before, files.Contents()));
  CHECK(files.Contents() == before);
  DurableServer server(files, Quick());
  MoveOptions options;
  options.skip_unknown = true;
  server.persistence().set_move_options(options);
  REQUIRE(server.Start().ok());
  CHECK(server.Run("GET a") == "\"3\"");
  CHECK(server.Run("HGET plain f") == "\"v\"");
  CHECK(server.Run("EXISTS h events") == ":0");
}

TEST_CASE(
    "takeover: nothing goes into another database than Redis's, also where what is unknown is "
    "skipped",
    "[rdb]") {
  FakeFileSystem files;
  PutLog(files, RequestText({"SELECT", "9999"}) + RequestText({"SET", "b", "elsewhere"}));
  const auto before = files.Contents();
  MoveOptions options;
  options.skip_unknown = true;
  CHECK(Start(files, Quick(), options).find("database 9999 of Redis is not here") !=
        std::string::npos);
  CHECK(files.Contents() == before);
}

TEST_CASE("takeover: a file is imported into an empty folder only", "[rdb]") {
  FakeFileSystem files;
  files.Put("elsewhere/some.rdb", Snapshot());
  MoveOptions import;
  import.import_path = "elsewhere/some.rdb";
  {
    DurableServer server(files, Quick());
    server.persistence().set_move_options(import);
    REQUIRE(server.Start().ok());
    CHECK(server.Run("GET a") == "\"1\"");
  }
  CHECK(files.Contents().contains("elsewhere/some.rdb"));
  CHECK(Start(files, Quick(), import).find("dir has data") == 0);
  CHECK(Start(files) == "");
}

void PutKind(FakeFileSystem& files, bool is_log) {
  if (is_log) return PutLog(files);
  files.Put("dump.rdb", File("REDIS0010", StringKey("a", "3") + StringKey("b", "2") + Byte(2) +
                                              Str("set") + Len(1) + Str("m")));
}

TEST_CASE("takeover: a crash at any call loses nothing", "[rdb]") {
  SeededRandom random;
  for (const bool is_log : {true, false}) {
    for (const Loss loss : {Loss::kProcessOnly, Loss::kDrop, Loss::kTear}) {
      for (uint64_t call = 0;; ++call) {
        INFO((is_log ? "log" : "snapshot") << ", call " << call << ", loss " << int(loss));
        FakeFileSystem files;
        PutKind(files, is_log);
        const auto before = files.Contents();
        files.FailAfter(call, Fault::kCrash);
        const bool whole = Start(files).empty() && !files.crashed();
        files.Restart(loss, random);
        REQUIRE(AllKept(before, files.Contents()));
        {
          DurableServer server(files, Quick());
          const absl::Status status = server.Start();
          INFO(status);
          REQUIRE(status.ok());
          REQUIRE(HasLog(server));
          server.Run("SET new 1");
        }
        REQUIRE(AllKept(before, files.Contents()));
        DurableServer last(files, Quick());
        REQUIRE(last.Start().ok());
        REQUIRE(last.Run("GET new") == "\"1\"");
        if (whole) break;
      }
    }
  }
}

TEST_CASE("takeover: a disk that fails or fills leaves the old files as they were", "[rdb]") {
  for (const bool is_log : {true, false}) {
    for (const Fault fault : {Fault::kNoSpace, Fault::kIoError, Fault::kTornWrite}) {
      for (uint64_t call = 0;; ++call) {
        INFO((is_log ? "log" : "snapshot") << ", call " << call << ", fault " << int(fault));
        FakeFileSystem files;
        PutKind(files, is_log);
        const auto before = files.Contents();
        files.FailAfter(call, fault, 1000);
        const bool whole = Start(files).empty() && call > 100;
        files.StopFaults();
        REQUIRE(AllKept(before, files.Contents()));
        DurableServer server(files, Quick());
        REQUIRE(server.Start().ok());
        REQUIRE(HasLog(server));
        if (whole || call > 100) break;
      }
    }
  }
  FakeFileSystem files;
  PutLog(files);
  const auto before = files.Contents();
  files.LeaveRoom(60);
  CHECK_FALSE(Start(files).empty());
  CHECK(AllKept(before, files.Contents()));
  files.LeaveRoom(SIZE_MAX);
  CHECK(Start(files) == "");
}

}  // namespace
}  // namespace tally::server::takeover_test
