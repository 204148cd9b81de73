// What happened in simulated servers: the figures that show how much a run was worth.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/bytes/str_cat.h"

namespace tally::server {

struct SimulationCounts {
  uint64_t commands = 0;          // executed, and compared with the model
  uint64_t refused_commands = 0;  // answered with MISCONF
  uint64_t refused_turns = 0;     // executed, but the disk did not take them
  uint64_t restarts = 0;          // crashes among them
  uint64_t crashes = 0;           // power losses among them
  uint64_t power_losses = 0;
  uint64_t moves = 0;  // restarts on an RDB, in place of the log
  uint64_t full_disks = 0;
  uint64_t far_jumps = 0;  // of the clock, forward and back
  uint64_t set_back = 0;   // keys and users in which something lay after the clock
  uint64_t rewrites = 0;   // that ended, failed ones among them
  uint64_t failed_rewrites = 0;
  uint64_t large_values = 0;  // values, keys and names of more than 1 MB
  size_t largest_value = 0;

  SimulationCounts& operator+=(const SimulationCounts& other) {
    commands += other.commands;
    refused_commands += other.refused_commands;
    refused_turns += other.refused_turns;
    restarts += other.restarts;
    crashes += other.crashes;
    power_losses += other.power_losses;
    moves += other.moves;
    full_disks += other.full_disks;
    far_jumps += other.far_jumps;
    set_back += other.set_back;
    rewrites += other.rewrites;
    failed_rewrites += other.failed_rewrites;
    large_values += other.large_values;
    largest_value = std::max(largest_value, other.largest_value);
    return *this;
  }

  std::string Text() const {
    return StrCat(commands, " commands; ", refused_turns, " turns not written, ", refused_commands,
                  " commands refused; ", restarts, " restarts, ", crashes,
                  " of them after a crash, ", power_losses, " after a power loss, ", moves,
                  " on an RDB; ", full_disks, " full disks; ", far_jumps,
                  " far jumps of the clock, ", set_back, " values set back; ", rewrites,
                  " rewrites, ", failed_rewrites, " of them failed; ", large_values,
                  " words of more than 1 MB, values of up to ", largest_value, " bytes");
  }
};

}  // namespace tally::server
