// Servers that follow one another, for a long time, with everything that can go wrong.
#include "replication_simulation.h"

#include <catch2/catch.hpp>

#include "scale.h"

namespace tally::server::replication_simulation_test {
namespace {

using test::SeededRandom;

TEST_CASE("Simulated replicas hold at each offset what the primary held there",
          "[replication_simulation]") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  constexpr FsyncPolicy kPolicies[] = {FsyncPolicy::kAlways, FsyncPolicy::kEverysec,
                                       FsyncPolicy::kNo};
  for (const FsyncPolicy policy : kPolicies) {
    INFO("policy " << static_cast<int>(policy));
    ReplicationSimulation simulation(random, policy);
    // Until the dice have dealt it enough of both: most often they have by then.
    const auto spared = [&] {
      const ReplicationCounts counts = simulation.counts();
      return counts.full_syncs < 3 || counts.partial_syncs < 3 || counts.compared < 100;
    };
    const uint64_t least = test::Scaled(1'000);
    for (int round = 0; simulation.counts().commands < least || (spared() && round < 50); ++round) {
      for (int turn = 0; turn < 400; ++turn) simulation.Turn();
      simulation.Heal();
    }
    INFO(simulation.counts().Text());
    // Shown by -s.
    CHECK_FALSE(spared());
  }
}

}  // namespace
}  // namespace tally::server::replication_simulation_test
