// A server without sockets whose append-only file is real but for its file system, which is in
// memory: for tests across restarts, crashes and rewrites.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "fake_file_system.h"
#include "server/persistence/aof_persistence.h"
#include "tests/unit/server/command_harness.h"

namespace tally::server {

// One process's life: from its start on the files, at the instant given, to its destruction, which
// is a crash unless Close() was called. Each command is a turn of its own.
class DurableServer : private Keyspace::Observer {
 public:
  DurableServer(test::FakeFileSystem& files, Config config, int64_t now_ms)
      : harness_(WithLog(std::move(config))),
        persistence_(harness_.state, harness_.dispatcher, files) {
    harness_.state.clock.Set(now_ms);
    harness_.state.persistence = &persistence_;
    harness_.engine.set_observer(this);
    absl::Status status = persistence_.Open();
    if (status.ok()) status = persistence_.LoadSlice(INT64_MAX);
    INFO(status);
    REQUIRE(status.ok());
  }
  ~DurableServer() { harness_.engine.set_observer(nullptr); }

  std::string Run(const std::string& line) {
    std::string reply = harness_.Run(line.c_str());
    REQUIRE(persistence_.FlushTurn().ok());
    return reply;
  }
  // False if it must not be acknowledged.
  bool TryRun(const std::string& line) {
    harness_.Run(line.c_str());
    return persistence_.FlushTurn().ok();
  }
  void Reload() { REQUIRE(persistence_.Reload().ok()); }
  void Close() { REQUIRE(persistence_.Close().ok()); }

  bool rewriting() const { return persistence_.rewriting(); }
  void SetClock(int64_t now_ms) { harness_.state.clock.Set(now_ms); }
  Engine& engine() { return harness_.engine; }

 private:
  static Config WithLog(Config config) {
    config.appendonly = true;
    config.appendfsync = FsyncPolicy::kAlways;
    config.auto_aof_rewrite_percentage = 0;
    return config;
  }

  void OnExpired(Keyspace& keyspace, std::string_view key) override {
    harness_.state.effects.Append(harness_.engine.IndexOf(keyspace), {"DEL", key});
  }
  void BeforeChange(Keyspace& keyspace, Keyspace::Segment& segment) override {
    persistence_.SaveBeforeChange(harness_.engine.IndexOf(keyspace), segment);
  }
  bool KeepValue(Type, void* value) override { return persistence_.KeepValue(value); }

  CommandHarness harness_;
  AofPersistence persistence_;
};

}  // namespace tally::server
