// Writes a whole RDB file of version 10 at once.
#pragma once

#include <absl/status/status.h>

#include "core/engine/engine.h"
#include "server/rdb/rdb_emitter.h"

namespace tally::rdb {

// Writes all keys of all databases, and the policies as tally.so keeps them. The engine must not
// change meanwhile. Returns the target's first error. O(bytes), in memory of the largest string.
absl::Status WriteRdb(Engine& engine, const RdbOptions& options, ByteTarget& target);

}  // namespace tally::rdb
