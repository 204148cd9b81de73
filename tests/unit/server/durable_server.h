// A server without sockets whose append-only file is real but for its file system, which is in
// memory: for tests across restarts, crashes and rewrites.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <utility>

#include "fake_file_system.h"
#include "server/durability/aof_persistence.h"
#include "server/figures/info.h"
#include "tests/unit/server/command_harness.h"

namespace tally::server {

// One process's life: from its start on the files to its destruction, which is a crash unless
// Close() was called.
class DurableServer final {
 public:
  // With the log on, and appendfsync as told.
  DurableServer(test::FakeFileSystem& files, Config config)
      : harness_(WithLog(std::move(config))), persistence_(harness_.state.services, files) {
    harness_.StopEffects();
    harness_.process.apply = [this](std::string_view name) {
      return name == "appendfsync" ? persistence_.ApplyConfig() : absl::OkStatus();
    };
  }
  // With appendfsync always and no rewrites but those asked for; started at that instant.
  DurableServer(test::FakeFileSystem& files, Config config, int64_t now_ms)
      : DurableServer(files, Careful(std::move(config))) {
    harness_.PassTo(now_ms);
    const absl::Status status = Start();
    INFO(status);
    REQUIRE(status.ok());
  }

  absl::Status Start() {
    if (absl::Status status = persistence_.Open(); !status.ok()) return status;
    return persistence_.LoadSlice(INT64_MAX);
  }

  // A command that is a turn of its own.
  std::string Run(const std::string& line) {
    std::string reply = harness_.Run(line.c_str());
    REQUIRE(persistence_.FlushTurn().ok());
    return reply;
  }
  // False if it was refused, or must not be acknowledged.
  bool TryRun(const std::string& line) {
    const bool refused = harness_.Run(line.c_str()).starts_with("-");
    return persistence_.FlushTurn().ok() && !refused;
  }
  void Reload() { REQUIRE(persistence_.Reload().ok()); }
  void Close() { REQUIRE(persistence_.Close().ok()); }

  // From what INFO says of the persistence.
  uint64_t InfoNumber(const std::string& name) {
    std::string info;
    InfoText text(info);
    persistence_.Report(text);
    const size_t begin = info.find("\r\n" + name + ":");
    REQUIRE(begin != std::string::npos);
    return std::stoull(info.substr(begin + name.size() + 3));
  }
  bool rewriting() const { return persistence_.rewriting(); }
  void SetClock(int64_t now_ms) { harness_.PassTo(now_ms); }
  Engine& engine() { return harness_.engine; }
  CommandHarness& harness() { return harness_; }
  AofPersistence& persistence() { return persistence_; }
  // Told of each key that the server removes because its deadline has passed.
  void set_on_expired(std::function<void(size_t database, std::string_view key)> told) {
    observer_.on_expired = std::move(told);
  }

 private:
  static Config WithLog(Config config) {
    config.appendonly = true;
    return config;
  }
  static Config Careful(Config config) {
    config.appendfsync = FsyncPolicy::kAlways;
    config.auto_aof_rewrite_percentage = 0;
    return config;
  }

  // The server's own, which also says which keys it removes.
  class Observer final : public KeyspaceObserver {
   public:
    explicit Observer(CommandHarness& harness)
        : KeyspaceObserver(harness.state.services), engine_(harness.engine) {}

    std::function<void(size_t database, std::string_view key)> on_expired;

   private:
    void OnExpired(Keyspace& keyspace, std::string_view key) override {
      KeyspaceObserver::OnExpired(keyspace, key);
      if (on_expired) on_expired(engine_.IndexOf(keyspace), key);
    }

    Engine& engine_;
  };

  CommandHarness harness_;
  AofPersistence persistence_;
  Observer observer_{harness_};
};

}  // namespace tally::server
