// Files of Redis that are where a server starts with nothing.
#pragma once

#include "server/aof/file_system.h"
#include "server/config/config.h"
#include "server/log/log.h"

namespace tally::server {

// Warns of a snapshot or a log of Redis in the working directory, which is not read.
void WarnOfRedisFiles(FileSystem& files, const Config& config, const Logger& log);

}  // namespace tally::server
