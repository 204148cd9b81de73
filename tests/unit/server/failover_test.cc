// FAILOVER between two servers whose links break at the worst moments: there are never two
// primaries because an answer was lost.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "core/bytes/str_cat.h"
#include "fake_network.h"
#include "random_seed.h"
#include "replicated_server.h"

namespace tally::server::failover_test {
namespace {

constexpr int64_t kOldPort = 7001;
constexpr int64_t kTargetPort = 7002;

// A primary and its replica, in step.
class Pair {
 public:
  explicit Pair(FsyncPolicy policy = FsyncPolicy::kAlways) : policy_(policy), network_(random_) {
    network_.set_troubled(false);
    for (test::FakeFileSystem* files : {&old_files_, &target_files_}) {
      files->UseDicedWorkers(random_, [this](int64_t us) { steady_ms_ += us / 1000; });
    }
    Start(old_files_, kOldPort, old);
    Start(target_files_, kTargetPort, target);
    REQUIRE(target->harness().Run(StrCat("REPLICAOF 127.0.0.1 ", kOldPort)) == "+OK");
    old->harness().Run("SET a 1");
    const auto in_step = [&] { return Follows(*target) && target->offset() == old->offset(); };
    TurnUntil(in_step);
    old->harness().Run("INCR a");
    TurnUntil(in_step);
    REQUIRE(old->harness().Run(StrCat("FAILOVER TO 127.0.0.1 ", kTargetPort)) == "+OK");
  }

  void Turn() {
    steady_ms_ += 100;
    network_.Step();
    for (ReplicatedServer* server : {old.get(), target.get()}) {
      if (server == nullptr) continue;
      server->harness().PassTo(kBeginMs + steady_ms_);
      server->harness().state.clock.SetSteady(steady_ms_);
      server->Tick();
      server->BeginTurn();
      server->EndTurn();
    }
  }
  template <typename Condition>
  void TurnUntil(Condition&& condition) {
    for (int turn = 0; !condition(); ++turn) {
      INFO(old->primary().last_error << "; " << target->primary().last_error);
      REQUIRE(turn < 500);
      Turn();
    }
  }
  // The target has taken over, and what it answers is lost.
  void LoseAnswer() {
    TurnUntil([&] { return !target->is_replica(); });
    network_.CutAll();
    REQUIRE(IsFailingOver());
  }
  void RestartTarget() {
    target = nullptr;
    Start(target_files_, kTargetPort, target);
  }
  // What its system had not written is gone.
  void LosePowerOfTarget() {
    target = nullptr;
    target_files_.Restart(test::FakeFileSystem::Loss::kDrop, random_);
    Start(target_files_, kTargetPort, target, kOldPort);
  }
  void CutAll() { network_.CutAll(); }
  void Silence(int64_t port) { network_.Listen(port, nullptr); }

  bool IsFailingOver() { return old->replicas().failover == "failover-in-progress"; }
  static bool Follows(const ReplicatedServer& server) {
    return server.is_replica() && server.primary().link == PrimaryState::Link::kConnected;
  }

 private:
  static constexpr int64_t kBeginMs = 1'700'000'000'000;

  void Start(test::FakeFileSystem& files, int64_t port, std::unique_ptr<ReplicatedServer>& server,
             int64_t follows = 0) {
    Config config;
    config.port = port;
    config.appendfsync = policy_;
    if (follows != 0) {
      config.replicaof_host = "127.0.0.1";
      config.replicaof_port = follows;
    }
    server = std::make_unique<ReplicatedServer>(files, network_, config, [this] {
      const std::string number = StrCat(++last_id_);
      return std::string(StreamId::kDigits - number.size(), 'a') + number;
    });
    server->harness().PassTo(kBeginMs + steady_ms_);
    server->harness().state.clock.SetSteady(steady_ms_);
    REQUIRE(server->Load().ok());
    server->Serve();
  }

  const FsyncPolicy policy_;
  test::SeededRandom random_;
  test::FakeFileSystem old_files_;
  test::FakeFileSystem target_files_;
  test::FakeNetwork network_;
  uint64_t last_id_ = 0;
  int64_t steady_ms_ = 1'000'000;

 public:
  // The last members, since they end before the network does.
  std::unique_ptr<ReplicatedServer> old;
  std::unique_ptr<ReplicatedServer> target;
};

TEST_CASE("failover: a request whose answer was lost is made again, and answered the same") {
  Pair pair;
  const uint64_t full_syncs = pair.old->primary().full_syncs;
  pair.LoseAnswer();
  pair.target->harness().Run("INCR a");
  pair.TurnUntil([&] { return !pair.IsFailingOver(); });
  CHECK(pair.old->is_replica());
  CHECK_FALSE(pair.target->is_replica());
  pair.TurnUntil([&] { return pair.old->offset() == pair.target->offset(); });
  CHECK(pair.old->harness().Run("GET a") == R"("3")");
  CHECK(pair.old->primary().full_syncs == full_syncs);
}

TEST_CASE("failover: a request that did not arrive is made again") {
  Pair pair;
  pair.TurnUntil([&] { return pair.IsFailingOver(); });
  // Whatever arrives of it, the link is broken each time, until it is not.
  for (int turn = 0; turn < 20; ++turn) {
    pair.Turn();
    if (turn % 2 == 1) pair.CutAll();
    REQUIRE((pair.old->is_replica() || pair.target->is_replica()));
  }
  pair.TurnUntil([&] { return Pair::Follows(*pair.old) || !pair.old->is_replica(); });
  CHECK(pair.old->is_replica() != pair.target->is_replica());
}

TEST_CASE("failover: who cannot be asked at all leaves the primary what it is") {
  Pair pair;
  pair.Silence(kTargetPort);
  pair.TurnUntil([&] { return !pair.old->harness().state.pause.failover; });
  CHECK_FALSE(pair.old->is_replica());
  CHECK(pair.target->is_replica());
}

TEST_CASE("failover: a target that has begun another history is left to whoever knows") {
  Pair pair;
  pair.LoseAnswer();
  pair.RestartTarget();
  for (int turn = 0; turn < 100; ++turn) pair.Turn();
  CHECK(pair.IsFailingOver());
  CHECK(pair.old->primary().last_error.find("can't be sent to a master") != std::string::npos);
  SECTION("by FAILOVER ABORT") {
    REQUIRE(pair.old->harness().Run("FAILOVER ABORT") == "+OK");
    CHECK_FALSE(pair.old->is_replica());
  }
  SECTION("by REPLICAOF") {
    pair.target->harness().Run("SET a 9");
    REQUIRE(pair.old->harness().Run(StrCat("REPLICAOF 127.0.0.1 ", kTargetPort)) == "+OK");
    CHECK_FALSE(pair.IsFailingOver());
    pair.TurnUntil(
        [&] { return Pair::Follows(*pair.old) && pair.old->offset() == pair.target->offset(); });
    CHECK(pair.old->harness().Run("GET a") == R"("9")");
    CHECK(pair.old->id() == pair.target->id());
  }
  SECTION("by REPLICAOF NO ONE") {
    REQUIRE(pair.old->harness().Run("REPLICAOF NO ONE") == "+OK");
    CHECK_FALSE(pair.IsFailingOver());
    CHECK_FALSE(pair.old->is_replica());
    CHECK(pair.old->harness().Run("INCR a") == ":3");
  }
}

TEST_CASE("failover: an answer that says nothing of who leads settles nothing") {
  Pair pair;
  pair.LoseAnswer();
  REQUIRE(pair.target->harness().Run("ACL SETUSER default -psync") == "+OK");
  for (int turn = 0; turn < 100; ++turn) pair.Turn();
  CHECK(pair.IsFailingOver());
  CHECK(pair.old->is_replica());
  REQUIRE(pair.target->harness().Run("ACL SETUSER default +psync") == "+OK");
  pair.TurnUntil([&] { return !pair.IsFailingOver(); });
  CHECK(pair.old->is_replica());
}

TEST_CASE("failover: a target that has lost data since it had all does not take over") {
  Pair pair(FsyncPolicy::kNo);
  pair.TurnUntil([&] { return pair.IsFailingOver(); });
  pair.LosePowerOfTarget();
  REQUIRE(pair.target->offset() < pair.old->offset());
  pair.TurnUntil([&] { return !pair.IsFailingOver(); });
  CHECK_FALSE(pair.old->is_replica());
  pair.TurnUntil(
      [&] { return Pair::Follows(*pair.target) && pair.target->offset() == pair.old->offset(); });
  CHECK(pair.target->harness().Run("GET a") == R"("2")");
}

TEST_CASE("failover: who lacks data takes over by FORCE only") {
  Pair pair;
  pair.Silence(kTargetPort);
  pair.TurnUntil([&] { return !pair.old->harness().state.pause.failover; });
  CommandHarness& target = pair.target->harness();
  const std::string request =
      StrCat("PSYNC ", pair.target->id(), " ", pair.target->offset() + 2, " FAILOVER");
  Client* const asker = target.Connect();
  REQUIRE(target.Run(*asker, "REPLCONF capa tallyd") == "+OK");
  CHECK(target.Run(*asker, request).starts_with("-ERR PSYNC FAILOVER offset is beyond mine"));
  CHECK(target.Run(*asker, request + " SOON").starts_with("-ERR syntax error"));
  CHECK(target.Run(*asker, request + " FORCE FORCE").starts_with("-ERR syntax error"));
  CHECK(target.Run(*asker, StrCat("PSYNC ", pair.target->id(), " ", INT64_MAX, " FAILOVER"))
            .starts_with("-ERR PSYNC FAILOVER offset is beyond mine"));
  CHECK(pair.target->is_replica());
  const bool force = GENERATE(true, false);
  // Who lacks everything asks for nothing that the target could lack.
  const std::string least = StrCat("PSYNC ", pair.target->id(), " ", INT64_MIN, " FAILOVER");
  target.Run(*asker, force ? request + " FORCE" : least);
  CHECK_FALSE(pair.target->is_replica());
  target.Disconnect(asker);
}

TEST_CASE("failover: REPLICAOF is refused while the other is not asked yet") {
  Pair pair;
  CHECK(pair.old->harness().Run("REPLICAOF NO ONE") ==
        "-ERR REPLICAOF not allowed while failing over.");
}

}  // namespace
}  // namespace tally::server::failover_test
