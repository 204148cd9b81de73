// Servers that follow one another, for a long time, with everything that can go wrong.
#include "replication_simulation.h"

#include <catch2/catch.hpp>

#include "scale.h"

namespace tally::server {
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
    const uint64_t least = test::Scaled(1'500);
    while (simulation.counts().commands < least) {
      for (int turn = 0; turn < 500; ++turn) simulation.Turn();
      simulation.Heal();
    }
    const ReplicationCounts counts = simulation.counts();
    INFO(counts.Text());
    // Shown by -s.
    CHECK(counts.compared > 100);
    CHECK(counts.full_syncs > 0);
    CHECK(counts.partial_syncs > 0);
  }
}

}  // namespace
}  // namespace tally::server
