// DEBUG RELOAD that cannot read what it has just saved: the data are there as before, are written,
// and can be reloaded later.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/str_cat.h"
#include "core/snapshot/record_emitter.h"
#include "fake_file_system.h"
#include "random_commands.h"
#include "random_natives.h"
#include "random_seed.h"
#include "server/aof/aof_directory.h"
#include "server/aof/base_reader.h"
#include "server/aof/base_writer.h"
#include "tests/unit/server/durable_server.h"

namespace tally::server::reload_test {
namespace {

using test::FakeFileSystem;
using test::SeededRandom;

constexpr int64_t kBegun = 1'760'000'000'000;

enum class Spoil { kBadRecordFirst, kBadRecordLast, kFlippedByte, kCut, kGone };
enum class When { kAtRest, kClockSetBack, kInRewrite };

struct Base {
  std::string path;
  BaseHeader header;
  std::vector<std::string> records;
};

// The base that the manifest names.
Base BaseOf(FakeFileSystem& files) {
  const Config config;
  const auto directory =
      AofDirectory::OpenForInspection(files, config.appenddirname, config.appendfilename);
  REQUIRE(directory.ok());
  const auto& entry = (*directory)->manifest().base;
  REQUIRE(entry.has_value());
  Base base;
  base.path = (*directory)->PathOf(*entry);
  auto reader = BaseReader::Open(files, base.path, entry->sequence);
  REQUIRE(reader.ok());
  base.header = (*reader)->header();
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) {
    more = (*reader)->NextBlock([&](std::string_view record) {
      base.records.emplace_back(record);
      return absl::OkStatus();
    });
  }
  REQUIRE(more.ok());
  return base;
}

// The same file, whose checksums are right, with a record that means nothing.
std::string WithBadRecord(const Base& base, size_t at) {
  FakeFileSystem files;
  BaseWriter writer(files, *files.Create(base.path), base.header, {});
  for (size_t i = 0; i <= base.records.size(); ++i) {
    if (i == at) REQUIRE(RecordEmitter(writer).Append("\xff no record").ok());
    if (i == base.records.size()) break;
    REQUIRE(RecordEmitter(writer).Append(base.records[i]).ok());
  }
  REQUIRE(writer.Finish().ok());
  REQUIRE(writer.WaitSynced().ok());
  return files.Contents().at(base.path);
}

void SpoilBase(FakeFileSystem& files, const Base& base, Spoil spoil) {
  std::string content = files.Contents().at(base.path);
  switch (spoil) {
    case Spoil::kBadRecordFirst:
      return files.Put(base.path, WithBadRecord(base, 0));
    case Spoil::kBadRecordLast:
      return files.Put(base.path, WithBadRecord(base, base.records.size()));
    case Spoil::kFlippedByte:
      content[content.size() / 2] ^= 1;
      return files.Put(base.path, content);
    case Spoil::kCut:
      return files.Put(base.path, content.substr(0, content.size() - 1));
    case Spoil::kGone:
      REQUIRE(files.Remove(base.path).ok());
  }
}

// Reloads; the base that has just been saved is spoiled before it is read. Returns what it was.
Base FailReload(DurableServer& server, FakeFileSystem& files, Spoil spoil) {
  Base saved;
  files.OnOpen([&](const std::string& path) {
    if (path.find(".base.") == std::string::npos) return;
    files.OnOpen(nullptr);
    saved = BaseOf(files);
    REQUIRE(saved.path == path);
    SpoilBase(files, saved, spoil);
  });
  const std::string reply = server.Run("DEBUG RELOAD");
  files.OnOpen(nullptr);
  INFO(reply);
  REQUIRE(reply.starts_with("-ERR "));
  REQUIRE_FALSE(saved.records.empty());
  return saved;
}

void Fill(DurableServer& server, SeededRandom& random) {
  test::RandomCommands commands(random, 50'000);
  test::RandomNatives natives(random, "");
  for (int i = 0; i < 150; ++i) {
    server.harness().Run(commands.Write(kBegun));
    server.harness().Run(natives.Write(kBegun));
  }
  server.harness().Run(commands.LargeWrite());
  for (const char* line :
       {"POLICY.SET rule FIXED 5 1m", "SET soon x PX 60000", "SET count 1", "RPUSH queue a b c",
        "HSET fields a 1 b 2", "QUOTA.SETLIMIT book sku 0 3 1d",
        "QUOTA.BUY book user order ITEMS sku 0 2"}) {
    REQUIRE(server.Run(line).front() != '-');
  }
}

// What is there is served, counted on and written.
void UseAll(DurableServer& server) {
  CHECK(server.Run("INCR count") == ":3");
  CHECK(server.Run("LPOP queue") == "\"a\"");
  CHECK(server.Run("HINCRBY fields a 1") == ":2");
  CHECK(server.Run("LIMIT.TAKE limit POLICY rule").starts_with("[:1"));
  CHECK(server.Run("QUOTA.BUY book user other ITEMS sku 0 2").starts_with("[:0"));
  CHECK(server.Run("SET new value") == "+OK");
}

void CheckUsed(DurableServer& server) {
  CHECK(server.Run("GET count") == "\"3\"");
  CHECK(server.Run("LRANGE queue 0 -1") == "[\"b\" \"c\"]");
  CHECK(server.Run("HGET fields a") == "\"2\"");
  CHECK(server.Run("QUOTA.LEFT book user sku") == "[[[\"0\" :1]]]");
  CHECK(server.Run("GET new") == "\"value\"");
  CHECK(server.Run("POLICY.LIST").find("rule") != std::string::npos);
}

void FailAndGoOn(SeededRandom& random, Spoil spoil, When when) {
  FakeFileSystem files;
  Config config;
  config.enable_debug_command = LocalAccess::kYes;
  {
    DurableServer server(files, config, kBegun);
    CommandHarness& harness = server.harness();
    Fill(server, random);
    server.Run("CONFIG SET notify-keyspace-events KEA");
    Client* const queuing = harness.Connect();
    for (const char* line : {"WATCH count queue", "MULTI", "INCR count", "LLEN queue"})
      harness.Run(*queuing, line);
    Client* const listening = harness.Connect();
    harness.Run(*listening, "SUBSCRIBE news");
    harness.Run(*listening, "PSUBSCRIBE __key*");
    if (when == When::kClockSetBack) server.SetClock(kBegun - 3'600'000);
    if (when == When::kInRewrite) {
      REQUIRE_FALSE(harness.Run("BGREWRITEAOF").starts_with("-"));
      REQUIRE(server.rewriting());
    }
    const std::string keys = server.Run("DBSIZE");

    const Base saved = FailReload(server, files, spoil);
    CHECK(harness.Received(*listening).empty());
    CHECK(server.Run("DBSIZE") == keys);
    // A second failure is as the first.
    CHECK(FailReload(server, files, spoil).records == saved.records);
    REQUIRE(server.Run("SAVE") == "+OK");
    CHECK(BaseOf(files).records == saved.records);
    CHECK(harness.Received(*listening).empty());

    CHECK(harness.Run(*queuing, "EXEC") == "[:2 :3]");
    CHECK(server.Run("PUBLISH news text") == ":1");
    CHECK(harness.Received(*listening).find("text") != std::string::npos);
    UseAll(server);
    server.Reload();
    CheckUsed(server);
    server.SetClock(kBegun + 60'000);
    harness.ExpireDue();
    CHECK(server.Run("EXISTS soon") == ":0");
  }
  files.Restart(FakeFileSystem::Loss::kDrop, random);
  DurableServer server(files, config, kBegun + 60'000);
  CheckUsed(server);
}

TEST_CASE("A reload of files that cannot be decoded leaves the data, and what is done with them") {
  SeededRandom random;
  INFO("seed " << random.seed());
  for (const Spoil spoil : {Spoil::kBadRecordFirst, Spoil::kBadRecordLast, Spoil::kFlippedByte,
                            Spoil::kCut, Spoil::kGone}) {
    for (const When when : {When::kAtRest, When::kClockSetBack, When::kInRewrite}) {
      INFO("spoilt in way " << static_cast<int>(spoil) << ", " << static_cast<int>(when));
      FailAndGoOn(random, spoil, when);
    }
  }
}

}  // namespace
}  // namespace tally::server::reload_test
