// Writes the data as an RDB file, with which a Redis or a Valkey starts.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>

#include "core/engine/engine.h"
#include "server/aof/file_system.h"

namespace tally::server {

// The engine must not change meanwhile. A file of that name is replaced when the new one is on the
// disk, and stays as it is after an error. `now_ms` is in unix ms.
absl::Status ExportRdb(Engine& engine, int64_t now_ms, FileSystem& files, const std::string& path);

}  // namespace tally::server
