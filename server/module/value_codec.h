// Values in RDB payloads (which DUMP and MIGRATE use too) and in an AOF without a preamble.
//
//   payload = 0 bytes               a packed value
//           | ( 1 run )+ 2          a heap value, in the runs of ValueOperations::save
//
// 0, 1 and 2 are unsigned integers of the RDB, bytes and run its strings. In an AOF each of them is
// a command: TALLY.LOAD key type PACKED|FIRST|MORE bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/type.h"
#include "core/time/zone_source.h"
#include "server/module/redis_module.h"
#include "server/module/stored_value.h"

namespace tally::module {

inline constexpr int kEncodingVersion = 1;

// The words of TALLY.LOAD.
inline constexpr std::string_view kLoadPacked = "PACKED";
inline constexpr std::string_view kLoadFirst = "FIRST";
inline constexpr std::string_view kLoadMore = "MORE";

void SaveValue(redis::Io* io, Type type, StoredValue value);
// None for a payload that SaveValue does not write, or that ends early.
StoredValue LoadValue(redis::Io* io, Type type, int encoding_version, uint64_t seed,
                      ZoneSource& zones);

// Writes the commands that make the key's value again.
void RewriteValue(redis::Io* io, redis::String* key, Type type, StoredValue value);

}  // namespace tally::module
