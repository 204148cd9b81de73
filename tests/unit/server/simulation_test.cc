// The whole server but for its sockets, for a long time, with everything that can go wrong.
#include "simulation.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "long_run.h"

namespace tally::server {
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
      return simulation.restarts() <= 10 || simulation.refused_turns() <= 10 ||
             simulation.rewrites() <= 10 || simulation.full_disks() <= 10 ||
             simulation.largest_value() <= 100'000;
    };
    constexpr uint64_t kCommands = 200'000 / std::size(kPolicies);
    while (simulation.commands() < kCommands ||
           (spared() && simulation.commands() < 50 * kCommands))
      simulation.Turn();
    INFO(simulation.restarts() << " restarts, " << simulation.refused_turns() << " refused turns, "
                               << simulation.rewrites() << " rewrites, " << simulation.full_disks()
                               << " full disks, largest value " << simulation.largest_value());
    CHECK_FALSE(spared());
  }
}

TEST_CASE("A seed gives the same simulation again") {
  const uint64_t seed = SeededRandom().seed();
  INFO("TALLY_SEED=" << seed);
  uint64_t calls[2] = {};
  for (uint64_t& count : calls) {
    SeededRandom random(seed);
    Simulation simulation(random, FsyncPolicy::kEverysec);
    while (simulation.commands() < 3000) simulation.Turn();
    count = simulation.file_calls();
  }
  CHECK(calls[0] == calls[1]);
}

TEST_CASE("Simulated servers, for hours", "[.long]") {
  constexpr size_t kLargest = size_t{64} << 20;
  const test::LongRun run;
  uint64_t commands = 0;
  uint64_t restarts = 0;
  uint64_t full_disks = 0;
  size_t largest = 0;
  while (run.goes_on()) {
    SeededRandom random;
    INFO("TALLY_SEED=" << random.seed());
    const FsyncPolicy policy = kPolicies[random.Below(std::size(kPolicies))];
    Simulation simulation(random, policy, kLargest);
    while (simulation.commands() < 50'000) simulation.Turn();
    commands += simulation.commands();
    restarts += simulation.restarts();
    full_disks += simulation.full_disks();
    largest = std::max(largest, simulation.largest_value());
  }
  WARN(commands << " commands, " << restarts << " restarts, " << full_disks
                << " full disks, values of up to " << largest << " bytes");
}

}  // namespace
}  // namespace tally::server
