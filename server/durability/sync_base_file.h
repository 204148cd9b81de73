// A base file that is on disk, opened for a full sync.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "server/aof/file_system.h"
#include "server/interfaces/sync_base.h"

namespace tally::server {

// The base was begun at `offset` of the stream of effects, whose history was `id`.
absl::StatusOr<SyncBase> OpenSyncBase(FileSystem& files, const std::string& path,
                                      const std::string& id, uint64_t offset);

}  // namespace tally::server
