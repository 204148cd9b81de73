// What the append-only file is said to hold, which decides when it is rewritten by itself.
#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/server/durable_server.h"

namespace tally::server::aof_size_test {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;

std::string Field(DurableServer& server, const std::string& name) {
  const std::string info = server.Run("INFO persistence");
  const size_t begin = info.find(name + ":");
  REQUIRE(begin != std::string::npos);
  const size_t value = begin + name.size() + 1;
  return info.substr(value, info.find_first_of("\r\\", value) - value);
}

void RewriteFiles(DurableServer& server) {
  server.Run("BGREWRITEAOF");
  while (server.rewriting()) server.Run("PING");
}

}  // namespace

TEST_CASE("the sizes of base and logs are the same after a restart") {
  test::FakeFileSystem files;
  std::string base;
  std::string current;
  {
    DurableServer server(files, {}, kNow);
    for (int i = 0; i < 100; ++i) server.Run("SET key" + std::to_string(i) + " value");
    RewriteFiles(server);
    for (int i = 0; i < 50; ++i) server.Run("INCR counter");
    base = Field(server, "aof_base_size");
    current = Field(server, "aof_current_size");
    CHECK(std::stoull(base) > 100 * 10);
    CHECK(std::stoull(current) > std::stoull(base));
    server.Close();
  }
  DurableServer server(files, {}, kNow);
  CHECK(Field(server, "aof_base_size") == base);
  CHECK(Field(server, "aof_current_size") == current);
}

TEST_CASE("a log that another follows after a failed sync is counted on") {
  test::FakeFileSystem files;
  std::string current;
  {
    DurableServer server(files, {}, kNow);
    for (int i = 0; i < 100; ++i) server.Run("SET key" + std::to_string(i) + " value");
    const uint64_t before = std::stoull(Field(server, "aof_current_size"));
    files.FailAfter(1, test::FakeFileSystem::Fault::kIoError);  // the sync after the write
    CHECK_FALSE(server.TryRun("SET lost 1"));
    server.harness().state.clock.SetSteady(kNow);
    server.persistence().Cron();
    REQUIRE(server.persistence().write_error().ok());
    server.Run("SET after 1");
    current = Field(server, "aof_current_size");
    CHECK(std::stoull(current) > before);
    server.Close();
  }
  DurableServer server(files, {}, kNow);
  CHECK(Field(server, "aof_current_size") == current);
}

TEST_CASE("logs without a base are counted after a restart") {
  test::FakeFileSystem files;
  {
    DurableServer server(files, {}, kNow);
    for (int i = 0; i < 100; ++i) server.Run("SET key" + std::to_string(i) + " value");
    server.Close();
  }
  DurableServer server(files, {}, kNow);
  CHECK(Field(server, "aof_base_size") == "0");
  CHECK(std::stoull(Field(server, "aof_current_size")) > 100 * 10);
}

}  // namespace tally::server::aof_size_test
