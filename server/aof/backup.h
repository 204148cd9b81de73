// tallyd --backup FROM TO: copies the append-only file of a server, which may be running and
// writing, as it is at one instant. The copy is a directory that a server starts from.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/aof/file_system.h"

namespace tally::server {

// `from` is the server's `dir`, the directory of the append-only file, or its manifest. `to`
// becomes a `dir`: it is created, or is empty. Returns what --check-aof says of the copy.
//
// The copy holds every write that was acknowledged before the call, and a prefix of those that came
// meanwhile. It is on disk when this returns. AlreadyExists if `to` holds anything, Aborted if
// rewrites end faster than the files can be opened, DataLoss if what was copied is damaged. After
// an error the copy has no manifest, so that no server takes it for data. O(bytes), in 1 MiB of
// memory.
absl::StatusOr<std::string> Backup(FileSystem& files, const std::string& from,
                                   const std::string& to);

}  // namespace tally::server
