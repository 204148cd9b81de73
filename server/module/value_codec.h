// Writes and reads values in RDB payloads (which DUMP and MIGRATE use too) and in an AOF without a
// preamble.
//
//   payload = block                            a packed value: StoredValue::SavedBlock
//           | ( 0xfe run )* 0xff run           a heap value, in the runs of ValueOperations::save
//
// A block, and the byte before a run with the run, is one string of the RDB. In an AOF each is one
// command: TALLY.LOAD key type PACKED|FIRST|MORE bytes, where the bytes of a packed value are
// without the block around them.
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
// Returns a null value for a payload that SaveValue does not write, or that ends early.
StoredValue LoadValue(redis::Io* io, Type type, int encoding_version, uint64_t seed,
                      ZoneSource& zones);

// Writes the commands that make the key's value again to an AOF.
void RewriteValue(redis::Io* io, redis::String* key, Type type, StoredValue value);

}  // namespace tally::module
