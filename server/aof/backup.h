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
// came during the call. It is made under a name that ends in kUnfinishedSuffix and gets its own
// when it is whole and on disk: `to` itself, or in a `to` that was there the directory of the
// append-only file. After an error it is removed; a process that is killed leaves the unfinished
// one, whose manifest came last. AlreadyExists if `to` is not empty, or if an
// unfinished copy is there; Aborted if rewrites end faster than the files can be opened; DataLoss
// if the copied files are damaged. O(bytes), with 1 MiB of memory.
absl::StatusOr<std::string> Backup(FileSystem& files, const std::string& from,
                                   const std::string& to);

}  // namespace tally::server
