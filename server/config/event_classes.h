// The letters of the classes of keyspace notifications in `notify-keyspace-events`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/key_events.h"

namespace tally::server {

// Nothing if a letter is unknown.
std::optional<uint32_t> ParseEventClasses(std::string_view letters);

// In the order in which Redis writes them.
std::string FormatEventClasses(uint32_t classes);

}  // namespace tally::server
