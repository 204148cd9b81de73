// MurmurHash64A (Austin Appleby, 2008): not for tables that strangers fill, but what HyperLogLogs
// that came from Redis were counted with.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

uint64_t MurmurHash64A(std::string_view bytes, uint64_t seed);

}  // namespace tally
