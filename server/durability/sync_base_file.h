// A base file that is on disk, opened for a full sync.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "server/aof/file_system.h"
#include "server/interfaces/sync_base.h"

namespace tally::server {

// `offset` is where in the stream of effects the base was begun.
absl::StatusOr<SyncBase> OpenSyncBase(FileSystem& files, const std::string& path, uint64_t offset);

}  // namespace tally::server
