// Finds files of Redis in the working directory of a server that starts with no data.
#pragma once

#include "server/aof/file_system.h"
#include "server/config/config.h"
#include "server/log/log.h"

namespace tally::server {

// Warns if the working directory has a snapshot or a log of Redis, because such a file is not read.
void WarnOfRedisFiles(FileSystem& files, const Config& config, const Logger& log);

}  // namespace tally::server
