#include "server/durability/redis_files.h"

#include "server/aof/manifest.h"

namespace tally::server {

void WarnOfRedisFiles(FileSystem& files, const Config& config, const Logger& log) {
  for (const std::string& name : {config.dbfilename, config.appendfilename}) {
    if (!files.OpenForRead(name).ok()) continue;
    log.Warning(name,
                " in dir is a file of Redis, which is not read: this server starts with no "
                "data. To move the data: ",
                kMoveFromRedis);
  }
}

}  // namespace tally::server
