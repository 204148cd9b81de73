// tallyd --backup FROM TO: copies the append-only file of a server as it is at one instant. The
// server may be running and writing. The copy is a directory from which a server can start.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/aof/file_system.h"

namespace tally::server {

// `from` is the server's `dir`, the directory of the append-only file, or its manifest. `to`
// becomes a `dir`: it is created, or must be empty. Returns the report of --check-aof on the copy.
//
// The copy holds every write that was acknowledged before the call, and a prefix of the writes that
// came during the call. It is on disk when this returns. AlreadyExists if `to` is not empty,
// Aborted if rewrites end faster than the files can be opened, DataLoss if the copied files are
// damaged. After an error the copy has no manifest, so that no server takes it for data. O(bytes),
// with 1 MiB of memory.
absl::StatusOr<std::string> Backup(FileSystem& files, const std::string& from,
                                   const std::string& to);

}  // namespace tally::server
