// MurmurHash64A (Austin Appleby, 2008), with which Redis counts in its HyperLogLogs, so that those
// from Redis can be counted on here. Not for tables that strangers fill.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

uint64_t MurmurHash64A(std::string_view bytes, uint64_t seed);

}  // namespace tally
