// Levels of the log, least important first.
#pragma once

#include <cstdint>

namespace tally::server {

enum class LogLevel : uint8_t { kDebug, kVerbose, kNotice, kWarning };

}  // namespace tally::server
