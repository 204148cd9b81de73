// The log switched on and off while the server runs, with a crash at every call that it makes.
#include <catch2/catch.hpp>
#include <string>

#include "fake_file_system.h"
#include "server/durability/aof_persistence.h"
#include "tests/unit/server/command_harness.h"

namespace tally::server::log_switch_test {
namespace {

using test::FakeFileSystem;
using test::SeededRandom;
using Fault = FakeFileSystem::Fault;
using Loss = FakeFileSystem::Loss;

// One process's life on the files.
class Life {
 public:
  Life(FakeFileSystem& files, bool appendonly)
      : harness_(ConfigWith(appendonly)), persistence_(harness_.state.services, files) {}

  absl::Status Start() {
    if (absl::Status status = persistence_.Open(); !status.ok()) return status;
    CHECK(harness_.state.services.loading);
    while (harness_.state.services.loading) {
      // A budget of nothing: a step at a time, as the loop does it.
      if (absl::Status status = persistence_.LoadSlice(0); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  // True when the command may be acknowledged.
  bool Run(const char* line) {
    harness_.Run(line);
    return persistence_.FlushTurn().ok();
  }
  absl::Status Switch(bool appendonly) {
    harness_.config.appendonly = appendonly;
    return persistence_.ApplyConfig();
  }
  std::string State() { return harness_.Run("MGET a b"); }
  AofPersistence& persistence() { return persistence_; }
  CommandHarness& harness() { return harness_; }

 private:
  static Config ConfigWith(bool appendonly) {
    Config config;
    config.appendonly = appendonly;
    config.appendfsync = FsyncPolicy::kAlways;
    return config;
  }

  CommandHarness harness_;
  AofPersistence persistence_;
};

// Files of an earlier time, that the log is not to go on with.
void LeaveStaleFiles(FakeFileSystem& files) {
  Life life(files, true);
  REQUIRE(life.Start().ok());
  REQUIRE(life.Run("SET a 1"));
  REQUIRE(life.persistence().Close().ok());
}

}  // namespace

TEST_CASE("log switch: on after a base of what is there, off, and on again") {
  FakeFileSystem files;
  LeaveStaleFiles(files);
  {
    Life life(files, false);
    REQUIRE(life.Start().ok());
    REQUIRE(life.Run("SET a 2"));
    REQUIRE(life.Switch(true).ok());
    REQUIRE(life.Run("SET b 1"));
    REQUIRE(life.Switch(false).ok());
    REQUIRE(life.Run("INCR a"));
    REQUIRE(life.Switch(true).ok());
    REQUIRE(life.Run("INCR b"));
    REQUIRE(life.State() == "[\"3\" \"2\"]");
  }
  Life life(files, true);
  REQUIRE(life.Start().ok());
  CHECK(life.State() == "[\"3\" \"2\"]");
  CHECK(life.harness().state.stats.commands_processed == 1);  // replay is nobody's call
}

TEST_CASE("log switch: what is loaded cannot be disturbed") {
  FakeFileSystem files;
  LeaveStaleFiles(files);
  Life life(files, true);
  REQUIRE(life.persistence().Open().ok());
  CHECK_FALSE(life.Switch(false).ok());
  CHECK_FALSE(life.persistence().StartRewrite().ok());
  CHECK_FALSE(life.persistence().SaveNow().ok());
  CHECK_FALSE(life.persistence().Reload().ok());
  CHECK(life.harness().Run("GET a") == "-LOADING Redis is loading the dataset in memory");
  CHECK(life.harness().Run("ECHO x") == "\"x\"");
}

TEST_CASE("log switch: not within a transaction, of which the files would hold a part") {
  FakeFileSystem files;
  Life life(files, true);
  REQUIRE(life.Start().ok());
  life.harness().config.enable_debug_command = LocalAccess::kYes;
  life.harness().process.apply = [&](std::string_view) { return life.persistence().ApplyConfig(); };
  constexpr const char* kQueue[] = {"MULTI", "SET a 1", "CONFIG SET appendonly no", "DEBUG RELOAD",
                                    "SET b 1"};
  for (const char* line : kQueue) REQUIRE(life.Run(line));
  const std::string reply = life.harness().Run("EXEC");
  CAPTURE(reply);
  CHECK(reply ==
        "[+OK -ERR CONFIG SET failed (possibly related to argument 'appendonly') - not allowed "
        "inside a transaction -ERR not allowed inside a transaction +OK]");
  CHECK(life.State() == "[\"1\" \"1\"]");
  CHECK(life.Run("CONFIG SET appendonly no"));
}

TEST_CASE("log switch: a crash anywhere leaves the old files or the new, never both") {
  SeededRandom random;
  INFO("seed " << random.seed());
  for (const Loss loss : {Loss::kProcessOnly, Loss::kDrop, Loss::kTear}) {
    bool crashed = true;
    for (uint64_t call = 0; crashed; ++call) {
      INFO("loss " << static_cast<int>(loss) << ", crash at call " << call);
      FakeFileSystem files;
      LeaveStaleFiles(files);
      bool switched = false;
      bool logged = false;
      {
        Life life(files, false);
        REQUIRE(life.Start().ok());
        REQUIRE(life.Run("SET a 2"));
        REQUIRE(life.Run("SET b 1"));
        files.FailAfter(call, Fault::kCrash);
        switched = life.Switch(true).ok();
        logged = switched && life.Run("INCR a");
        crashed = files.crashed();
      }
      files.Restart(loss, random);
      Life life(files, true);
      REQUIRE(life.Start().ok());
      const std::string state = life.State();
      const bool is_old = state == "[\"1\" nil]";
      const bool is_new = state == "[\"2\" \"1\"]";
      const bool is_newest = state == "[\"3\" \"1\"]";
      INFO(state);
      CHECK((is_old || is_new || is_newest));
      if (switched) CHECK_FALSE(is_old);
      if (logged) CHECK(is_newest);
    }
  }
}

}  // namespace tally::server::log_switch_test
