// Compares all that two servers hold.
#pragma once

#include <cstdint>

namespace tally::differential {

// True when both hold the same keys with the same values, encodings and deadlines in all databases;
// prints every difference. Takes a few round trips a key.
bool SameKeyspaces(uint16_t tallyd_port, uint16_t redis_port);

}  // namespace tally::differential
