// The whole server but for its sockets, for a long time, with everything that can go wrong.
#include "simulation.h"

#include <catch2/catch.hpp>

#include "long_run.h"
#include "scale.h"

namespace tally::server::simulation_test {
namespace {

using test::SeededRandom;

constexpr FsyncPolicy kPolicies[] = {FsyncPolicy::kAlways, FsyncPolicy::kEverysec,
                                     FsyncPolicy::kNo};

TEST_CASE(
    "Simulated servers lose nothing that appendfsync promises, and never hold a wrong value") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  for (const FsyncPolicy policy : kPolicies) {
    INFO("policy " << static_cast<int>(policy));
    Simulation simulation(random, policy);
    // Until the dice have dealt it enough of everything: most often they have by then.
    const auto spared = [&] {
      const SimulationCounts& counts = simulation.counts();
      return counts.restarts <= 10 || counts.moves <= 3 || counts.refused_turns <= 10 ||
             counts.rewrites <= 10 || counts.full_disks <= 10 || counts.largest_value <= 100'000;
    };
    const auto commands = [&] { return simulation.counts().commands; };
    constexpr uint64_t kUsual = 200'000 / std::size(kPolicies);
    const uint64_t least = test::Scaled(kUsual);
    while (commands() < least || (spared() && commands() < 50 * kUsual)) simulation.Turn();
    INFO(simulation.counts().Text());
    CHECK_FALSE(spared());
  }
}

TEST_CASE("Simulated servers count, limit and sell while the clock runs far ahead and back") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  for (const FsyncPolicy policy : kPolicies) {
    INFO("policy " << static_cast<int>(policy));
    Simulation simulation(random, policy, size_t{1} << 20, Simulation::Clocks::kFarAhead);
    const SimulationCounts& counts = simulation.counts();
    const uint64_t least = test::Scaled(30'000);
    while (counts.commands < least || counts.far_jumps <= 10 || counts.restarts <= 5 ||
           counts.set_back <= 5) {
      simulation.Turn();
    }
    INFO(counts.Text());
    // Shown by -s.
    CHECK(counts.far_jumps > 10);
  }
}

TEST_CASE("Simulated servers change values of up to 64 MB while they rewrite to bad disks") {
  SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  constexpr size_t kLargest = size_t{64} << 20;
  const FsyncPolicy policy = kPolicies[random.Below(std::size(kPolicies))];
  Simulation simulation(random, policy, kLargest);
  const SimulationCounts& counts = simulation.counts();
  const auto spared = [&] {
    return counts.rewrites < 2 || counts.large_values < 10 || counts.largest_value < kLargest / 4;
  };
  for (int turn = 0; turn < 50'000 && (turn < 40 || spared()); ++turn) {
    turn % 8 == 0 ? simulation.LargeTurn() : simulation.Turn();
  }
  INFO(counts.Text());
  CHECK_FALSE(spared());
}

TEST_CASE("A seed gives the same simulation again") {
  const uint64_t seed = SeededRandom().seed();
  INFO("TALLY_SEED=" << seed);
  uint64_t calls[2] = {};
  for (uint64_t& count : calls) {
    SeededRandom random(seed);
    Simulation simulation(random, FsyncPolicy::kEverysec);
    while (simulation.counts().commands < 3000) simulation.Turn();
    count = simulation.file_calls();
  }
  CHECK(calls[0] == calls[1]);
}

TEST_CASE("Simulated servers for hours", "[.long]") {
  constexpr size_t kLargest = size_t{64} << 20;
  const test::LongRun run;
  SimulationCounts counts;
  while (run.goes_on()) {
    SeededRandom random;
    INFO("TALLY_SEED=" << random.seed());
    const FsyncPolicy policy = kPolicies[random.Below(std::size(kPolicies))];
    Simulation simulation(random, policy, kLargest);
    while (simulation.counts().commands < 50'000) simulation.Turn();
    counts += simulation.counts();
  }
  WARN(counts.Text());
}

}  // namespace
}  // namespace tally::server::simulation_test
