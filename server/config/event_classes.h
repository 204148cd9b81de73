// Converts `notify-keyspace-events` between letters and a set of event classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/command/key_events.h"

namespace tally::server {

// Returns nullopt if a letter is unknown.
std::optional<uint32_t> ParseEventClasses(std::string_view letters);

// Writes the letters in the order that Redis uses.
std::string FormatEventClasses(uint32_t classes);

}  // namespace tally::server
