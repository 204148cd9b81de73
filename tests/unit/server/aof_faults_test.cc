// What clients see of a disk that fails, is full or is slow: errors instead of promises, reads that
// go on, and writing again when everything acknowledged is safe.
#include <catch2/catch.hpp>
#include <string>

#include "core/bytes/str_cat.h"
#include "durable_server.h"

namespace tally::server::aof_faults_test {
namespace {

using test::FakeFileSystem;
using test::SeededRandom;
using Fault = FakeFileSystem::Fault;
using Loss = FakeFileSystem::Loss;

constexpr int64_t kNow = 1'700'000'000'000;
constexpr FsyncPolicy kPolicies[] = {FsyncPolicy::kAlways, FsyncPolicy::kEverysec,
                                     FsyncPolicy::kNo};

// A server on clocks that stand until they are moved, without threads.
class Server {
 public:
  Server(FakeFileSystem& files, FsyncPolicy policy, SeededRandom& random) {
    files.UseDicedWorkers(random, [this](int64_t us) { Pass(us / 1000); });
    Config config;
    config.appendfsync = policy;
    server_.emplace(files, config);
    server_->SetClock(kNow);
    Pass(1);
    REQUIRE(server_->Start().ok());
  }

  // The reply, or "lost" if the connection ends without one.
  std::string Turn(const std::string& line) {
    const std::string reply = server_->harness().Run(line);
    return server_->persistence().FlushTurn(AofPersistence::RewritePace::kStep).ok() ||
                   reply[0] == '-' || IsRead(line)
               ? reply
               : "lost";
  }
  void Pass(int64_t ms) {
    steady_ms_ += ms;
    server_->harness().state.clock.SetSteady(steady_ms_);
  }
  // A while in which nobody writes.
  void Idle(int64_t ms) {
    for (; ms > 0; ms -= 50) {
      Pass(50);
      server_->persistence().Cron();
      server_->persistence().FlushTurn(AofPersistence::RewritePace::kStep).IgnoreError();
    }
  }
  // To its end, without the attempts to recover.
  void Rewrite() {
    CHECK(server_->harness().Run("BGREWRITEAOF")[0] == '+');
    while (server_->rewriting()) {
      server_->persistence().FlushTurn(AofPersistence::RewritePace::kStep).IgnoreError();
    }
  }
  bool Says(const std::string& row) {
    return Turn("INFO persistence").find(row) != std::string::npos;
  }
  AofPersistence& persistence() { return server_->persistence(); }
  DurableServer& durable() { return *server_; }

 private:
  static bool IsRead(const std::string& line) {
    return line.starts_with("GET") || line.starts_with("INFO");
  }

  std::optional<DurableServer> server_;
  int64_t steady_ms_ = 0;
};

// What a new process finds in the keys a, b and c.
std::string AfterLoss(FakeFileSystem& files, Loss loss, SeededRandom& random) {
  files.StopFaults();
  files.Restart(loss, random);
  Server server(files, FsyncPolicy::kAlways, random);
  return server.Turn("MGET a b c");
}

TEST_CASE("faults: while the log cannot be written, writers are told and readers served") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  for (const FsyncPolicy policy : kPolicies) {
    for (const Fault fault : {Fault::kIoError, Fault::kNoSpace, Fault::kTornWrite}) {
      INFO("policy " << int(policy) << " fault " << int(fault));
      FakeFileSystem files;
      {
        Server server(files, policy, random);
        CHECK(server.Turn("SET a 1") == "+OK");
        files.FailAfter(0, fault, 1'000'000);
        CHECK(server.Turn("SET b 2") == "lost");
        CHECK(server.Turn("SET b 3").starts_with("-MISCONF Errors writing to the AOF file: "));
        CHECK(server.Turn("EVAL return(redis.call('set','b','4')) 0").find("MISCONF") !=
              std::string::npos);
        CHECK(server.Turn("GET a") == "\"1\"");
        CHECK(server.Says("aof_last_write_status:err"));
        server.Idle(5000);
        CHECK(server.Turn("SET b 3").starts_with("-MISCONF"));
        files.StopFaults();
        server.Idle(1100);
        CHECK(server.Says("aof_last_write_status:ok"));
        CHECK(server.Turn("SET c 5") == "+OK");
      }
      // What nobody was promised was executed and stays so; it is logged before anything later.
      CHECK(AfterLoss(files, Loss::kProcessOnly, random) == "[\"1\" \"2\" \"5\"]");
    }
  }
}

TEST_CASE("faults: after a failed sync nothing counts as safe that was not written again") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  FakeFileSystem files;
  {
    Server server(files, FsyncPolicy::kAlways, random);
    CHECK(server.Turn("SET a 1") == "+OK");
    files.FailAfter(1, Fault::kIoError);  // the sync after the write
    CHECK(server.Turn("SET b 2") == "lost");
    server.Idle(1100);
    CHECK(server.Turn("SET c 3") == "+OK");
  }
  CHECK(AfterLoss(files, Loss::kDrop, random) == "[\"1\" \"2\" \"3\"]");
}

TEST_CASE("faults: a process that dies after a failed sync leaves nothing that looks safe") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  FakeFileSystem files;
  {
    Server server(files, FsyncPolicy::kAlways, random);
    CHECK(server.Turn("SET a 1") == "+OK");
    files.FailAfter(1, Fault::kIoError);
    CHECK(server.Turn("SET b 2") == "lost");
  }
  files.StopFaults();
  files.Restart(Loss::kProcessOnly, random);
  {
    // The kernel shows b, though the disk has lost it.
    Server server(files, FsyncPolicy::kAlways, random);
    CHECK(server.Turn("GET b") == "\"2\"");
    CHECK(server.Turn("SET c 3") == "+OK");
  }
  CHECK(AfterLoss(files, Loss::kDrop, random) == "[\"1\" \"2\" \"3\"]");
}

TEST_CASE("faults: with appendfsync no, a new base replaces what a failed sync has lost") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  FakeFileSystem files;
  {
    Server server(files, FsyncPolicy::kNo, random);
    CHECK(server.Turn("SET a 1") == "+OK");
    files.FailAfter(0, Fault::kIoError, 5);
    CHECK(server.Turn("CONFIG SET appendfsync always")[0] == '-');
    CHECK(server.Turn("SET b 2").starts_with("-MISCONF"));
    server.Idle(8000);
    CHECK(server.Says("aof_last_write_status:ok"));
    CHECK(server.Turn("CONFIG SET appendfsync always") == "+OK");
    CHECK(server.Turn("SET b 2") == "+OK");
  }
  CHECK(AfterLoss(files, Loss::kDrop, random) == "[\"1\" \"2\" nil]");
}

TEST_CASE(
    "faults: with appendfsync no, a rewrite that fails after another one leaves a base to load") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  FakeFileSystem files;
  {
    Server server(files, FsyncPolicy::kNo, random);
    CHECK(server.Turn(StrCat("SET a ", std::string(1000, 'x'))) == "+OK");
    files.FailAfter(0, Fault::kIoError);
    CHECK(server.Turn("CONFIG SET appendfsync always")[0] == '-');
    server.Rewrite();
    CHECK(server.Says("aof_rewrite_failures:0"));
    files.LeaveRoom(500);
    server.Rewrite();
    CHECK(server.Says("aof_rewrite_failures:1"));
  }
  files.LeaveRoom(SIZE_MAX);
  CHECK(AfterLoss(files, Loss::kProcessOnly, random).find("xxx") != std::string::npos);
}

TEST_CASE("faults: recovery and syncs do not wait for a wall clock that was set back") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  FakeFileSystem files;
  {
    Server server(files, FsyncPolicy::kEverysec, random);
    files.FailAfter(0, Fault::kNoSpace);
    CHECK(server.Turn("SET a 1") == "lost");
    server.durable().SetClock(kNow - 86'400'000);
    server.Idle(1100);
    CHECK(server.Turn("SET b 2") == "+OK");
    server.durable().SetClock(kNow - 2 * int64_t{86'400'000});
    server.Idle(20'000);  // the sync is known to have ended at the latest a hundred turns later
    CHECK(server.Says("aof_buffer_length:0"));
  }
  CHECK(AfterLoss(files, Loss::kDrop, random) == "[\"1\" \"2\" nil]");
}

}  // namespace
}  // namespace tally::server::aof_faults_test
