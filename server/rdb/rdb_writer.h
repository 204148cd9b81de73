// Writes a whole RDB file of version 10, which every Redis from 7.0 and every Valkey loads.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string_view>

#include "core/engine/engine.h"
#include "server/rdb/rdb_output.h"

namespace tally::rdb {

// Writes all keys of all databases, and the policies as tally.so keeps them. The engine must not
// change meanwhile. `version` is the one of Redis that the file names, `now` the instant that it
// gives as its own, in unix ms. Returns the target's first error. O(bytes), in memory of the
// largest string.
absl::Status WriteRdb(const Engine& engine, std::string_view version, int64_t now,
                      ByteTarget& target);

}  // namespace tally::rdb
