// When what was logged is synced to disk: the values of appendfsync.
#pragma once

#include <cstdint>

namespace tally::server {

enum class FsyncPolicy : uint8_t { kAlways, kEverysec, kNo };

}  // namespace tally::server
