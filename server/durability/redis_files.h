// Finds the data with which Redis would start in the working directory, and sets its files aside
// when all that is in them has been written to files of our own.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "server/aof/file_system.h"
#include "server/config/config.h"

namespace tally::server {

struct RedisFiles {
  // In the order in which they are read. Only the last one may end in the middle of a command.
  std::vector<std::string> paths;
  // Whether they are a log, in which a snapshot may be followed by commands.
  bool is_log = false;
  // The files and folders to be renamed afterwards.
  std::vector<std::string> originals;
};

// Returns nothing if there is no data of Redis, or if this server has data of its own. Looks where
// Redis would: at the log if `appendonly` is yes, otherwise at the snapshot. Unlike Redis it also
// takes the snapshot if there is no log. FailedPrecondition if there is a log only, and it is not
// to be read.
absl::StatusOr<std::optional<RedisFiles>> FindRedisFiles(FileSystem& files, const Config& config);

// The same for one path: an RDB, a log, or the folder of a log with its manifest.
absl::StatusOr<RedisFiles> RedisFilesAt(FileSystem& files, const std::string& path);

// Gives a file or a folder another name, which says where it comes from. Returns the new name.
absl::StatusOr<std::string> SetAside(FileSystem& files, const std::string& path);
// Whether SetAside has given this name another one.
bool IsSetAside(FileSystem& files, const std::string& path);

}  // namespace tally::server
